"""A run folder: the names of its files, and what it says about itself; an error names what is wrong."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from sparserec.data import IdMap, Interactions, ItemInfo, Split
from sparserec.errors import RunError
from sparserec.files import file_hash, file_lock, sweep, write_text
from sparserec.runs.record import Record, Recorder, environment
from sparserec.training import Arrays, RunConfig, differences, fitting, read_arrays, write_arrays

CONFIG, LOCK = "config.json", "lock"
TRACKERS = "trackers.json"
RECORD = "record.json"
SEALED = (
    CONFIG, "environment.json", "data.safetensors", "events.jsonl", "model.safetensors", "per_user.npz",
    "training.png", "support.png", "rows.png",
)  # fmt: skip
"""What a run writes once, beside its record; other files in its folder, such as exported ones, are whoever put them
there's to change."""
Hashes = dict[str, str | list[str]]
"""By the name of a file; several where it may be one or the other."""


class RunFolder:
    """Where everything of one run lies."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.config = self.path / CONFIG
        """Settings, written when the run begins."""
        self.environment = self.path / "environment.json"
        self.data = self.path / "data.safetensors"
        """The split."""
        self.events = self.path / "events.jsonl"
        self.model = self.path / "model.safetensors"
        """The trained table."""
        self.per_user = self.path / "per_user.npz"
        """Test results of every user."""
        self.record = self.path / RECORD
        """Written last: a run that has it is finished."""
        self.work = self.path / "work"
        """Checkpoints: of use to a resumed training only."""
        self.device_file = self.path / "model.srec"
        self.checksums = self.path / "checksums.json"
        self.trackers = self.path / TRACKERS
        """Under which name each tracker knows this run."""

    @property
    def begun(self) -> bool:
        return self.config.is_file()

    @property
    def finished(self) -> bool:
        return self.record.is_file()

    @property
    def final(self) -> RunFolder:
        """The same model trained on everything: a run folder inside this one, without figures."""
        return RunFolder(self.path / "final")

    def done(self, config: RunConfig) -> bool:
        """Whether nothing is left to train, or to write down."""
        return self.finished and (not config.final or self.read_record().final is not None)

    def check(self, config: RunConfig, resume: bool) -> None:
        """Refuse a folder that cannot be begun or continued with these settings; nothing is written."""
        if self.begun:
            before = self.read_config()
            if before.digest() != config.digest():
                raise RunError(
                    f"{self.path}: holds a run with other settings ({differences(before, config)}); give the same ones "
                    "to continue it, or choose another `folder`"
                )
            if self.done(config):
                raise RunError(f"{self.path}: this run is finished; its results are in {self.record}")
            if not resume:
                raise RunError(
                    f"{self.path}: holds an unfinished run; continue it with `resume` or delete the folder"
                )
        elif self.path.is_file():
            raise RunError(f"{self.path}: is a file; choose another `folder`")
        elif self.path.exists() and any(file.name != LOCK for file in self.path.iterdir()):
            raise RunError(f"{self.path}: exists and is not a run folder; choose another one")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from training into this folder; one that died lets go by dying.

        What was half written when one died is swept away. A folder into which nothing was written is removed again,
        and so are those made around it.
        """
        new = [folder for folder in (self.path, *self.path.parents) if not folder.exists()]
        self.path.mkdir(parents=True, exist_ok=True)
        with file_lock(self.path / LOCK) as owner:
            if owner is not None:
                raise RunError(
                    f"{self.path}: process {owner} is training into it; wait for it, or choose another"
                )
            for folder in (self.path, self.work, self.final.path, self.final.work):
                sweep(folder)
            try:
                yield
            finally:
                if not self.begun:
                    (self.path / LOCK).unlink(missing_ok=True)
                    with suppress(OSError):  # the first that holds something else ends it
                        for folder in new:
                            folder.rmdir()

    def begin(self, config: RunConfig) -> None:
        """Write down the settings; a record of an earlier end, which is to be written again, goes first."""
        self.record.unlink(missing_ok=True)
        values = config.model_dump(mode="json") | {"settled": config.settled}
        write_text(self.config, json.dumps(values, indent=1))
        write_text(self.environment, json.dumps(environment(), indent=1))

    @property
    def sealed(self) -> bool:
        """Whether a finished run has the hashes of its files; those of older versions may not."""
        return self.finished and self.checksums.is_file()

    def seal(self) -> None:
        """Write down the hash of every file of a finished run, so that a damaged one is noticed when it is opened."""
        self._seal(self.record.read_text(encoding="utf-8"))

    def _seal(self, record: str) -> None:
        """Hashes of files that have none yet, and of a record that is about to be written, or the one before."""
        known: Hashes = _read_json(self.checksums) if self.sealed else {}
        files = (self.path / name for name in SEALED if name not in known)
        hashes: Hashes = {file.name: file_hash(file) for file in files if file.is_file()}
        before = known.get(self.record.name, [])
        now = hashlib.sha256(record.encode()).hexdigest()
        hashes[self.record.name] = [now, *([before] if isinstance(before, str) else before[:1])]
        write_text(self.checksums, json.dumps(known | hashes, indent=1))

    def verify(self, *names: str) -> None:
        """See that files are what they were when the run ended; all of them unless some are named.

        Runs of older versions have no hashes, and cannot be checked.
        """
        if not self.checksums.is_file():
            return
        for name, expected in _read_json(self.checksums).items():
            if name not in (names or (*SEALED, RECORD)):  # older versions sealed whatever lay there
                continue
            file = self.path / name
            if not file.is_file():
                raise RunError(f"{file}: is missing; copy it back, or train again")
            if file_hash(file) not in ([expected] if isinstance(expected, str) else expected):
                raise RunError(f"{file}: damaged, it is not what the run wrote; copy it back, or train again")

    def read_config(self) -> RunConfig:
        """The configuration a run was started with."""
        if not self.path.exists():
            raise RunError(f"{self.path}: no such run; `sparserec runs` lists those in a folder")
        if not self.begun:
            raise RunError(f"{self.path}: not a run folder (it has no {CONFIG}); `sparserec runs` lists runs")
        return RunConfig.parse(_read_json(self.config), str(self.config))

    def read_record(self) -> Record:
        """What a finished run wrote down about itself."""
        self.read_config()
        if not self.finished:
            raise RunError(
                f"{self.path}: this run is not finished (it has no {self.record.name}); "
                "continue it with `resume` and this `folder`"
            )
        return Record.parse(_read_json(self.record), str(self.record))

    def write_record(self, record: Record) -> None:
        """The last thing a run does; a finished one may write it again, to say more about itself.

        The hashes come first, and know the record before it too: killed at any moment, a run with a record is sealed.
        """
        text = json.dumps(record.as_dict(), indent=1)
        if self.sealed or not self.finished:  # what an older version left unsealed may be damaged already
            self._seal(text)
        write_text(self.record, text)

    def read_events(self) -> list[dict[str, Any]]:
        """What happened so far."""
        return Recorder(self.events).events()


def _read_json(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RunError(f"{path}: damaged, not valid JSON ({error}); train again") from None
    if not isinstance(values, dict):
        raise RunError(f"{path}: damaged, expected a JSON object; train again")
    return values


# The split of a run as a file, so that a run folder alone is enough to evaluate, recommend and export.

PARTS = ("train", "valid", "test", "given")
"""The last one only where users are held out whole."""


def save_split(path: Path, split: Split) -> None:
    """Write pairs, external ids and item names."""
    arrays: Arrays = {}
    for name in PARTS:
        part: Interactions | None = getattr(split, name)
        if part is not None:
            arrays[f"{name}.users"], arrays[f"{name}.items"] = part.users, part.items
            if part.weights is not None:
                arrays[f"{name}.weights"] = part.weights
    state = {"protocol": split.protocol, "seed": split.seed, "hash": split.hash}
    for side, ids in (("user", split.train.user_ids), ("item", split.train.item_ids)):
        external = ids.external()
        if ids.is_integer:
            arrays[f"{side}.ids"] = external
        else:
            arrays |= _pack(f"{side}.ids", [str(one) for one in external])
    info = split.train.item_info
    if info is not None and info.titles is not None:
        arrays |= _pack("titles", list(info.titles))
    if info is not None and info.tags is not None:
        arrays |= _pack("tags", ["\t".join(tags) for tags in info.tags])
    write_arrays(path, arrays, state)


def load_split(path: Path) -> Split:
    """Read what save_split wrote."""
    arrays, state = read_arrays(path)
    with fitting(path):
        users, items = _ids("user", arrays), _ids("item", arrays)
        titles = _unpack("titles", arrays)
        tags = _unpack("tags", arrays)
        info = None
        if titles is not None or tags is not None:
            info = ItemInfo(
                titles, [tuple(t for t in one.split("\t") if t) for one in tags] if tags else None
            )
        stored = PARTS if "given.users" in arrays else PARTS[:3]
        train, valid, test, *given = (
            Interactions(
                arrays[f"{name}.users"],
                arrays[f"{name}.items"],
                users,
                items,
                None,
                info,
                weights=arrays.get(f"{name}.weights"),
            )
            for name in stored
        )
        return Split(train, valid, test, state["protocol"], state["seed"], state["hash"], *given)


def _pack(name: str, texts: list[str]) -> Arrays:
    raw = [text.encode() for text in texts]
    ends = np.cumsum([len(one) for one in raw], dtype=np.int64)
    return {f"{name}.text": np.frombuffer(b"".join(raw), np.uint8), f"{name}.ends": ends}


def _unpack(name: str, arrays: Arrays) -> list[str] | None:
    if f"{name}.ends" not in arrays:
        return None
    raw, ends = arrays[f"{name}.text"].tobytes(), arrays[f"{name}.ends"]
    starts = np.concatenate([[0], ends[:-1]])
    return [raw[a:b].decode() for a, b in zip(starts, ends)]


def _ids(side: str, arrays: Arrays) -> IdMap:
    texts = _unpack(f"{side}.ids", arrays)
    return IdMap(np.array(texts)) if texts is not None else IdMap(arrays[f"{side}.ids"])
