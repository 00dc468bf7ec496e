"""The program srec, the example of the docs, memory, and broken files by the thousand."""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from added import neighbours, weighted
from compiled import ROOT, SOURCES, STRICT, CModel, CReaderError, build, compiler, run
from files import lay_out, put_together, take_apart
from toy import make_toy

from absent import absent
from sparserec.device import FoldInWeights, encode_codes, encode_rows, encode_table, load, model_bytes
from sparserec.visible import UNSAFE

GOLDEN = ROOT / "conformance" / "v1" / "golden"
TITLED = GOLDEN / "items-titles-tags-popularity.srec"
PERSONAL = GOLDEN / "personal-lightgcn-bitmask-int8.srec"


def lines(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.splitlines()]


def test_recommend(program: Path) -> None:
    command = [
        program,
        "recommend",
        TITLED,
        "--history",
        "item-01,item-04",
        "--history",
        "no such item,item-02",
    ]
    command += [
        "--weights",
        "1,.5,3,-1",
        "--k",
        "4",
        "--exclude",
        "item-07",
        "--tags",
        "tag2,tag9",
        "--include-seen",
    ]
    expected = load(TITLED).recommend(
        history=["item-01", "item-04", "no such item", "item-02"],
        weights=[1, 0.5, 3, -1],
        k=4,
        exclude=["item-07"],
        tags=["tag2", "tag9"],
        exclude_seen=False,
    )
    assert [(id, float(score), title) for id, score, title in lines(run(command))] == [
        (one.id, one.score, one.title) for one in expected
    ]


def test_recommend_to_a_stored_user_and_to_nobody(program: Path) -> None:
    model = load(PERSONAL)
    for words, args in (([], {}), (["--user", "me"], {"user": "me"}), (["--history", ""], {"history": []})):
        expected = [(str(one.id), one.score) for one in model.recommend(**args)]
        found = lines(run([program, "recommend", PERSONAL, *words]))
        assert [(id, float(score)) for id, score in found] == expected


def test_similar_and_explain(program: Path) -> None:
    model = load(TITLED)
    found = lines(run([program, "similar", TITLED, "item-02", "-k", "3"]))
    assert [(id, float(score)) for id, score, _ in found] == [
        (one.id, one.score) for one in model.similar("item-02", 3)
    ]
    score, *parts = lines(run([program, "explain", TITLED, "item-07", "--history", "item-01,item-04"]))
    expected = model.explain(history=["item-01", "item-04"], item="item-07")
    assert float(score[0]) == expected.score
    assert [(id, float(value)) for id, value, _ in parts] == [
        (part.id, part.score) for part in expected.contributions
    ]


def test_inspect_and_verify(program: Path) -> None:
    output = {line[0]: line[1] for line in lines(run([program, "inspect", TITLED]))}
    card = load(TITLED).card()
    for key in ("mode", "base", "items", "users", "dim", "tags", "golden_queries", "sha256", "bytes"):
        assert output[key] == str(card[key])
    assert json.loads(output["card"]) == card["card"]
    assert run([program, "verify", TITLED]) == f"ok\t{card['golden_queries']} golden queries\n"


def test_bench_says_times(program: Path) -> None:
    output = {key: float(value) for key, value in lines(run([program, "bench", TITLED]))}
    assert output.keys() == {"bytes", "arena_bytes", "open_ms", "query_ms", "similar_ms", "explain_ms"}


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ([], 2, "usage"),
        (["recommend"], 2, "usage"),
        (["dance", "FILE"], 2, "usage"),
        (["verify", "nowhere.srec"], 2, "nowhere.srec"),
        (["verify", "BROKEN"], 1, "WrongChecksum (checksum)"),
        (["similar", "FILE", "nothing"], 1, "UnknownItem: nothing"),
        (["similar", "FILE"], 2, "which item"),
        (["recommend", "FILE", "--k", "0"], 2, "--k: expected 1 to"),
        (["recommend", "FILE", "--k"], 2, "a value is missing"),
        (["recommend", "FILE", "--weights", "1"], 2, "--weights: as many"),
        (["recommend", "FILE", "--history", "item-01", "--weights", "x"], 2, "--weights: expected numbers"),
        (["recommend", "FILE", "--history", "item-01", "--weights", "1e7"], 1, "BadQuery"),
        (["recommend", "FILE", "--weights", ""], 2, "--weights: expected numbers"),
        (["recommend", "FILE", "--history", "item-01", "--weights", ""], 2, "--weights: expected numbers"),
        (["recommend", "FILE", "--tags", "nothing"], 1, "UnknownTag"),
        (["recommend", "FILE", "--user", "nobody"], 1, "UnknownUser"),
        (["recommend", "FILE", "--dance", "x"], 2, "--dance: no such option"),
        (["recommend", "FILE", "--dance"], 2, "--dance: no such option"),
        (["explain", "FILE", "item-01", "--user", "me"], 2, "--user: no such option of explain"),
        (["explain", "FILE", "item-01", "-k", "3"], 2, "-k: no such option of explain"),
        (["similar", "FILE", "item-01", "--history", "item-02"], 2, "--history: no such option of similar"),
        (["similar", "FILE", "item-01", "--include-seen"], 2, "--include-seen: no such option of similar"),
        (["verify", "FILE", "--tags", "tag2"], 2, "--tags: no such option of verify"),
        (["inspect", "FILE", "more"], 2, "more: no such option of inspect"),
    ],
)
def test_what_is_wrong_is_said(program: Path, words: list[str], code: int, message: str) -> None:
    broken = GOLDEN.parent / "malformed" / "wrong-checksum.srec"
    files = {"FILE": str(TITLED), "BROKEN": str(broken)}
    done = subprocess.run(
        [program, *(files.get(word, word) for word in words)], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (code, "") and message in done.stderr


def test_nothing_in_a_file_steers_the_terminal(program: Path, tmp_path: Path) -> None:
    """What the Python package escapes is a question mark here; the characters on either side are shown as they are."""
    ranges = ((0, 0xA2), (0x2020, 0x2072), (0x20A8, 0x20B0), (0xC3A8, 0xC3AA), (0x10202A, 0x10202F))
    signs = [chr(code) for first, end in ranges for code in range(first, end)]
    titles = [f"<{sign}>" for sign in signs] + ["cut \u00c2", "cut \u2028", "cut \ufeff\u202e\u202d"]
    toy = make_toy(5, users=3, items=len(titles), dim=4)
    more = {"titles": titles, "item_ids": [f"{number}\x9b{title}" for number, title in enumerate(titles)]}
    path = tmp_path / "model.srec"
    path.write_bytes(model_bytes(weighted(toy, "items", FoldInWeights(0.2), **more)))
    shown = subprocess.run([program, "recommend", path, "-k", "999"], capture_output=True, check=True).stdout
    found = sorted(line.split("\t") for line in shown.decode("utf-8").removesuffix("\n").split("\n"))
    safe = [(UNSAFE.sub("?", id), UNSAFE.sub("?", title)) for id, title in zip(more["item_ids"], titles)]
    assert sum("<?>" in title for _, title in safe) > 70
    assert [(id, title) for id, _, title in found] == sorted(safe)


def test_example_of_the_docs(tmp_path: Path) -> None:
    """It is at most 20 lines of code, compiles with a C compiler, and prints the answer."""
    page = (ROOT / "docs" / "c-reader.md").read_text(encoding="utf-8")
    (source,) = re.findall(r"```c\n(.*?)```", page, re.DOTALL)
    assert len([line for line in source.splitlines() if line.strip()]) <= 20
    (tmp_path / "example.c").write_text(source, encoding="utf-8")
    example = build(tmp_path / "example", tmp_path / "example.c", "srec.c")
    expected = load(TITLED).recommend(history=["item-01"], k=5)
    assert lines(run([example, TITLED, "item-01"])) == [
        [str(one.title), f"{one.score:.6f}"] for one in expected
    ]


def test_make_builds_the_program(tmp_path: Path) -> None:
    if shutil.which("make") is None:
        absent("make is not installed: c/Makefile is not tested")
    for name in ("Makefile", "main.c", "srec.c", "srec.h"):
        shutil.copy(SOURCES / name, tmp_path)
    run(["make", "-C", tmp_path, f"CC={compiler()}"])
    assert run([tmp_path / "srec", "verify", TITLED]).startswith("ok")
    sizes = re.findall(
        r"^\s+(\d+)\s", run(["make", "-C", tmp_path, f"CC={compiler()}", "size"]), re.MULTILINE
    )
    assert [int(size) < 47_000 for size in sizes] == [True]


def test_clang_agrees(tmp_path: Path) -> None:
    """Another compiler, warnings as errors; clang is no tool of CI."""
    if shutil.which("clang") is None:
        pytest.skip("clang is not installed: the C reader is not compiled with it")
    program = build(tmp_path / "srec", "main.c", "srec.c", name="clang")
    for path in sorted(GOLDEN.glob("full-*.srec")):
        run([program, "verify", path])


def test_header_serves_c_plus_plus(tmp_path: Path) -> None:
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed: srec.h is not tried from C++")
    (tmp_path / "use.cc").write_text(
        '#include "srec.h"\nint main() { return srec_name(SREC_OK)[0] != 111; }\n'
    )
    run([compiler(), *STRICT, "-c", SOURCES / "srec.c", "-o", tmp_path / "srec.o"])
    run(["g++", f"-I{SOURCES}", tmp_path / "use.cc", tmp_path / "srec.o", "-lm", "-o", tmp_path / "use"])
    run([tmp_path / "use"])


def test_nothing_but_the_c_library_and_no_state(tmp_path: Path) -> None:
    """What the object asks for from outside, and that it has no data that can change."""
    if shutil.which("nm") is None:
        absent("nm is not installed: what the C reader needs is not looked at")
    run(
        [
            compiler(),
            *STRICT,
            "-O2",
            "-fno-stack-protector",
            "-c",
            SOURCES / "srec.c",
            "-o",
            tmp_path / "srec.o",
        ]
    )
    symbols = [line.split() for line in run(["nm", tmp_path / "srec.o"]).splitlines()]
    needed = {words[-1] for words in symbols if words[-2] == "U"} - {"_GLOBAL_OFFSET_TABLE_"}
    assert needed <= {"memcpy", "memmove", "memset", "memcmp", "memchr", "strlen", "strcmp", "strchr"} | {
        "frexp", "ldexp", "sqrt", "floor"
    }  # fmt: skip
    assert [words for words in symbols if words[-2] in "BbC"] == []


def synthetic(items: int) -> dict[str, bytes]:
    """Models of some thousand items, as users have them."""
    random = np.random.default_rng(1)
    toy = make_toy(5, users=3, items=8, dim=64)
    dense = random.normal(size=(items, 64))
    sparse = np.where(random.random((items, 64)) < 0.25, dense, 0.0)
    degree = random.integers(1, 300, items)
    code, book = random.integers(0, 256, (items, 16)), random.normal(size=(16, 256, 4))
    lists = encode_rows(
        np.where(random.random((items, items)) < 20 / items, random.random((items, items)), 0.0), 4
    )
    more = {"degree": degree, "item_ids": None}
    found = {
        "gaps": weighted(toy, "items", FoldInWeights(0.2), score=encode_rows(sparse, 4), **more),
        "prefix": weighted(toy, "items", FoldInWeights(0.2), score=encode_rows(dense, 4, "prefix"), **more),
        "codes": weighted(toy, "items", FoldInWeights(0.2), score=encode_codes(code, book), **more),
        "neighbours": neighbours(toy, lists, FoldInWeights(0.2), **more),
    }
    for encoding in ("bitmask", "byte-index", "dense"):
        table = encode_table(sparse, 8, encoding)
        found[encoding] = weighted(toy, "items", FoldInWeights(0.2), score=table, **more)
    return {name: model_bytes(parts) for name, parts in found.items()}


def test_memory_is_eight_bytes_an_item(reader: ctypes.CDLL) -> None:
    """All that is needed beside the file, in the modes that are for devices."""
    items = 6000
    for name, data in synthetic(items).items():
        model = CModel(reader, data)
        assert model.self_test() > 0
        assert model.arena_bytes <= 8 * items + 65536, name
    for path in sorted((ROOT / "conformance").glob("*/golden/*.srec")):
        model = CModel(reader, path.read_bytes())
        assert model.info.mode == 1 or model.arena_bytes <= 8 * model.info.items + 65536, path


def test_an_arena_that_is_too_small_is_refused(reader: ctypes.CDLL) -> None:
    with pytest.raises(CReaderError, match="ArenaTooSmall"):
        CModel(reader, TITLED.read_bytes(), spare=-1)


def test_a_small_file_may_have_many_users(reader: ctypes.CDLL) -> None:
    """Outside of `full` their number is only informative; a mutant found that it changed the arena."""
    parts = take_apart(TITLED.read_bytes())
    parts.set_model(users=1_000_000)
    model = CModel(reader, put_together(*lay_out(parts)))
    assert model.self_test() > 0 and model.info.users == 1_000_000


def test_an_arena_may_start_anywhere(reader: ctypes.CDLL) -> None:
    """The size asked for has room to align it."""
    data = TITLED.read_bytes()
    size = reader.srec_arena_size(data, len(data))
    room, model = ctypes.create_string_buffer(size + 16), ctypes.c_void_p()
    for offset in range(16):
        arena = ctypes.byref(room, offset)
        assert reader.srec_open(data, len(data), arena, size, ctypes.byref(model), None) == 0
        assert reader.srec_self_test(model, ctypes.byref(ctypes.c_uint32())) == 0


def test_mutants_end_as_in_python(watched: Path) -> None:
    """A fixed-seed run of structured mutants with sanitizers: the outcome of the Python reader, or a named error."""
    command = [sys.executable, ROOT / "conformance" / "mutate.py", "--seed", "4", "--count", "3000"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    mutants = subprocess.run(command, capture_output=True, check=True, env=environment).stdout
    report = run([watched, "--frames"], mutants)
    assert "3000 mutants, 0 findings" in report
    assert int(re.search(r"(\d+) ok", report).group(1)) > 100  # type: ignore[union-attr]


def test_valgrind(tmp_path: Path) -> None:
    """No byte is used before it is set, in files of every mode; valgrind is no tool of CI."""
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    harness = build(tmp_path / "fuzz", "fuzz.c", flags=["-O1", "-g"])
    names = (
        "full-codes",
        "items-gaps-self-loops",
        "neighbours-8-signed",
        "personal-wide-gaps",
        "items-codes-3x256-8",
    )
    files = [ROOT / "conformance" / "v1.1" / "golden" / f"{name}.srec" for name in names]
    run(["valgrind", "-q", "--error-exitcode=3", "--leak-check=full", harness, *files, TITLED, PERSONAL])
