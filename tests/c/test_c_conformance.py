"""The C reader on the conformance folder: the same answers to the last bit, the same names of errors."""

from __future__ import annotations

import ctypes
import json
import re
from pathlib import Path
from typing import Any

import pytest
from compiled import ROOT, CModel, CReaderError, run
from make import VERSIONS

from sparserec.device import errors

FOLDER = ROOT / "conformance"


def cases(kind: str) -> list[dict[str, str]]:
    found = []
    for version in VERSIONS:
        index = json.loads((FOLDER / version / "index.json").read_text(encoding="utf-8"))
        for case in index[kind]:
            found.append(
                {key: value if key == "error" else f"{version}/{value}" for key, value in case.items()}
            )
    return found


def answer(model: CModel, call: str, args: dict[str, Any], termed: bool) -> dict[str, Any]:
    """As conformance/golden.py has it, of a file with terms of items or without."""
    try:
        return answered(model, call, args, termed)
    except CReaderError as error:
        return {"error": str(error)}


def answered(model: CModel, call: str, args: dict[str, Any], termed: bool) -> dict[str, Any]:
    if call == "catalogue":
        return {"catalogue": model.catalogue()}
    if call == "explain":
        score, parts = model.explain(**args)
        found = {"contributions": [list(part) for part in parts], "score": score}
        return found | ({"term": model.term(args["item"]) if parts else 0.0} if termed else {})
    answers = model.recommend(**args) if call == "recommend" else model.similar(**args)
    result: dict[str, Any] = {
        "items": [item for item, _, _ in answers],
        "scores": [score for _, score, _ in answers],
    }
    if model.info.titles:
        result["titles"] = [title for _, _, title in answers]
    return result


@pytest.mark.parametrize("case", cases("golden"), ids=lambda case: Path(case["file"]).stem)
def test_golden(reader: ctypes.CDLL, case: dict[str, str]) -> None:
    model = CModel(reader, (FOLDER / case["file"]).read_bytes())
    expected = json.loads((FOLDER / case["expected"]).read_text(encoding="utf-8"))
    modes = ("items", "full", "personal", "neighbours")
    card = {key: getattr(model.info, key) for key in ("items", "users", "dim")}
    assert expected["card"] == card | {"mode": modes[model.info.mode], "base": model.header_text("base")}
    assert model.self_test() > 0
    for query in expected["queries"]:
        call, args = query.pop("call"), query.pop("args")
        assert answer(model, call, args, termed="term" in query) == query, (call, args)


@pytest.mark.parametrize("case", cases("malformed"), ids=lambda case: Path(case["file"]).stem)
def test_malformed(reader: ctypes.CDLL, case: dict[str, str]) -> None:
    with pytest.raises(CReaderError) as caught:
        CModel(reader, (FOLDER / case["file"]).read_bytes())
    assert str(caught.value) == case["error"]


def test_names_are_those_of_the_python_reader() -> None:
    header = (ROOT / "c" / "srec.h").read_text(encoding="utf-8")
    names = set(re.findall(r'^    X\([A-Z0-9_]+, "(\w+)"\)', header, re.MULTILINE)) - {"ok", "ArenaTooSmall"}
    python = {name for name, kind in vars(errors).items() if isinstance(kind, type)}
    assert names == python - {"DeviceError", "CannotWrite", "annotations"}


def test_nothing_is_read_or_written_out_of_place(watched: Path) -> None:
    """Address and undefined-behaviour sanitizers over all files, guards between the pieces of the arena."""
    files = sorted(FOLDER.glob("*/*/*.srec"))
    lines = run([watched, *files]).splitlines()
    assert len(lines) == len(files)
    named = {
        FOLDER / case["file"]: case.get("error", "ok")
        for kind in ("golden", "malformed")
        for case in cases(kind)
    }
    assert {Path(path): name for name, _, path in (line.split(" ", 2) for line in lines)} == named
