"""The C reader as the tests use it: compiled in a folder of their own, called with the names of the Python reader."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from absent import absent

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "c"
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffp-contract=off"]
NONE = 2**32 - 1
PATIENCE = 900.0
WHERE = 48


def compiler(name: str = "") -> str:
    """Path of a C compiler, or the end of the test."""
    found = shutil.which(name) if name else shutil.which("gcc") or shutil.which("cc")
    if found is None:
        absent(f"{name or 'gcc or cc'} is not installed: the C reader is not tested with it")
    return found


def build(out: Path, *sources: str | Path, flags: Sequence[str] = ("-O2",), name: str = "") -> Path:
    """Compile strictly; sources are relative to c/."""
    command = [compiler(name), *STRICT, *flags, *(str(SOURCES / source) for source in sources)]
    run([*command, f"-I{SOURCES}", "-lm", "-o", str(out)])
    return out


def run(command: Sequence[str | Path], data: bytes | None = None, code: int = 0) -> str:
    """Standard output of a command that must end as expected."""
    done = subprocess.run([str(word) for word in command], input=data, capture_output=True, timeout=PATIENCE)
    output = done.stdout.decode(errors="replace")
    assert done.returncode == code, f"{output[-4000:]}\n{done.stderr.decode(errors='replace')[-4000:]}"
    return output


class Text(ctypes.Structure):
    _fields_ = [("at", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    def read(self) -> str | None:
        return None if self.at is None else ctypes.string_at(self.at, self.length).decode()


class Id(ctypes.Structure):
    _fields_ = [("text", Text), ("number", ctypes.c_int64)]


class Scored(ctypes.Structure):
    _fields_ = [("score", ctypes.c_double), ("item", ctypes.c_uint32)]


class Info(ctypes.Structure):
    _fields_ = [("mode", ctypes.c_int)] + [
        (name, ctypes.c_uint32)
        for name in ("items", "users", "dim", "fold_tables", "tags", "golden", "tensors")
    ]
    _fields_ += [(name, ctypes.c_int) for name in ("self_loops", "titles", "minor_version")]


class Question(ctypes.Structure):
    _fields_ = [
        ("by_user", ctypes.c_int), ("user", ctypes.c_uint32),
        ("history", ctypes.c_void_p), ("weights", ctypes.c_void_p), ("history_size", ctypes.c_size_t),
        ("exclude", ctypes.c_void_p), ("exclude_size", ctypes.c_size_t),
        ("allow", ctypes.c_void_p), ("allow_size", ctypes.c_size_t),
        ("tags", ctypes.c_void_p), ("tags_size", ctypes.c_size_t),
        ("keep_seen", ctypes.c_int),
    ]  # fmt: skip


class CReaderError(Exception):
    """A code other than 0; its text is the name of the code."""


def library(path: Path) -> ctypes.CDLL:
    """Declare what the functions take and give."""
    reader = ctypes.CDLL(str(path))
    size, number, pointer = ctypes.c_size_t, ctypes.c_uint32, ctypes.c_void_p
    for name, result, arguments in (
        ("srec_name", ctypes.c_char_p, [ctypes.c_int]),
        ("srec_arena_size", size, [pointer, size]),
        ("srec_open", ctypes.c_int, [pointer, size, pointer, size, pointer, pointer]),
        ("srec_recommend", ctypes.c_int, [pointer, pointer, pointer, size, pointer]),
        ("srec_similar", ctypes.c_int, [pointer, number, pointer, size, pointer]),
        ("srec_explain", ctypes.c_int, [pointer, pointer, number, pointer, pointer, pointer]),
        ("srec_self_test", ctypes.c_int, [pointer, pointer]),
        ("srec_describe", Info, [pointer]),
        ("srec_find_item", number, [pointer, ctypes.c_char_p, size]),
        ("srec_find_item_number", number, [pointer, ctypes.c_int64]),
        ("srec_find_user", number, [pointer, ctypes.c_char_p, size]),
        ("srec_find_tag", number, [pointer, ctypes.c_char_p, size]),
        ("srec_item_id", Id, [pointer, number]),
        ("srec_title", Text, [pointer, number]),
        ("srec_tag", Text, [pointer, number]),
        ("srec_item_tag", number, [pointer, number, number]),
        ("srec_popularity", number, [pointer, number]),
        ("srec_term", ctypes.c_double, [pointer, number]),
        ("srec_seen", number, [pointer, number]),
        ("srec_header_text", size, [pointer, ctypes.c_char_p, ctypes.c_char_p, size]),
    ):
        function = getattr(reader, name)
        function.restype, function.argtypes = result, arguments
    return reader


class CModel:
    """The same questions as `sparserec.device.Model` answers, by ids, as plain values."""

    def __init__(self, reader: ctypes.CDLL, data: bytes, spare: int = 0) -> None:
        self.reader, self.data = reader, ctypes.create_string_buffer(data, len(data))
        self.arena_bytes = int(reader.srec_arena_size(self.data, len(data)))
        self.arena = ctypes.create_string_buffer(self.arena_bytes + spare)
        self.model, self.where = ctypes.c_void_p(), ctypes.create_string_buffer(WHERE)
        self._check(
            reader.srec_open(
                self.data, len(data), self.arena, len(self.arena), ctypes.byref(self.model), self.where
            )
        )
        self.info: Info = reader.srec_describe(self.model)

    def recommend(
        self,
        user: Any = None,
        history: Sequence[Any] | None = None,
        k: int = 20,
        *,
        weights: Sequence[float] | None = None,
        exclude: Iterable[Any] = (),
        allow: Iterable[Any] | None = None,
        deny: Iterable[Any] | None = None,
        tags: Iterable[str] | None = None,
        exclude_seen: bool = True,
    ) -> list[tuple[Any, float, str | None]]:
        asked, kept = self._question(history, weights), []
        lists = {"exclude": [*exclude, *(deny or ())], "allow": allow}
        for name, values in lists.items():
            if values is not None:
                kept.append(self._indices(asked, name, [self.find(value) for value in values]))
        if tags is not None:
            kept.append(
                self._indices(asked, "tags", [self._find(self.reader.srec_find_tag, tag) for tag in tags])
            )
        asked.keep_seen = not exclude_seen
        if user is not None:
            asked.by_user, asked.user = 1, self._find(self.reader.srec_find_user, user)
        return self._answers(
            k, lambda *room: self.reader.srec_recommend(self.model, ctypes.byref(asked), *room)
        )

    def similar(self, item: Any, k: int = 20) -> list[tuple[Any, float, str | None]]:
        return self._answers(k, lambda *room: self.reader.srec_similar(self.model, self.find(item), *room))

    def explain(
        self, history: Sequence[Any], item: Any, weights: Sequence[float] | None = None
    ) -> tuple[float, list[tuple[Any, float]]]:
        asked, score = self._question(history, weights), ctypes.c_double()
        out, found = (Scored * max(len(history), 1))(), ctypes.c_size_t()
        self._check(
            self.reader.srec_explain(
                self.model,
                ctypes.byref(asked),
                self.find(item),
                out,
                ctypes.byref(found),
                ctypes.byref(score),
            )
        )
        return score.value, [(self.id(one.item), one.score) for one in out[: found.value]]

    def term(self, item: Any) -> float:
        return float(self.reader.srec_term(self.model, self.find(item)))

    def catalogue(self) -> list[dict[str, Any]]:
        return [
            {
                "id": self.id(index),
                "title": self.reader.srec_title(self.model, index).read(),
                "tags": list(self._tags(index)),
                "popularity": self.reader.srec_popularity(self.model, index),
            }
            for index in range(self.info.items)
        ]

    def _tags(self, index: int) -> Iterator[str | None]:
        place = 0
        while (tag := self.reader.srec_item_tag(self.model, index, place)) != NONE:
            yield self.reader.srec_tag(self.model, tag).read()
            place += 1

    def self_test(self) -> int:
        failed = ctypes.c_uint32()
        self._check(self.reader.srec_self_test(self.model, ctypes.byref(failed)))
        return self.info.golden

    def header_text(self, key: str) -> str:
        size = self.reader.srec_header_text(self.model, key.encode(), None, 0)
        room = ctypes.create_string_buffer(size + 1)
        assert self.reader.srec_header_text(self.model, key.encode(), room, size + 1) == size
        return room.value.decode()

    def find(self, item: Any) -> int:
        if isinstance(item, int):
            return int(self.reader.srec_find_item_number(self.model, item))
        return self._find(self.reader.srec_find_item, item)

    def id(self, index: int) -> Any:
        found = self.reader.srec_item_id(self.model, index)
        text = found.text.read()
        return found.number if text is None else text

    def _find(self, search: Any, name: Any) -> int:
        raw = str(name).encode()
        return int(search(self.model, raw, len(raw)))

    def _question(self, history: Sequence[Any] | None, weights: Sequence[float] | None) -> Question:
        asked = Question()
        if history is not None:
            asked.kept = [self._indices(asked, "history", [self.find(item) for item in history])]
            if weights is not None:
                asked.kept.append((ctypes.c_double * max(len(weights), 1))(*weights))
                asked.weights = ctypes.cast(asked.kept[1], ctypes.c_void_p)
        return asked

    def _indices(self, asked: Question, name: str, indices: Sequence[int]) -> Any:
        """An array that the question points to, and whoever holds it must keep."""
        array = (ctypes.c_uint32 * max(len(indices), 1))(*indices)
        setattr(asked, name, ctypes.cast(array, ctypes.c_void_p))
        setattr(asked, f"{name}_size", len(indices))
        return array

    def _answers(self, k: int, ask: Any) -> list[tuple[Any, float, str | None]]:
        out, found = (Scored * max(k, 1))(), ctypes.c_size_t()
        self._check(ask(out, k, ctypes.byref(found)))
        return [
            (self.id(one.item), one.score, self.reader.srec_title(self.model, one.item).read())
            for one in out[: found.value]
        ]

    def _check(self, code: int) -> None:
        if code:
            raise CReaderError(self.reader.srec_name(code).decode())
