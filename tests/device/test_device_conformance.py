"""The conformance folder: what any reader must answer and refuse, and that the folder is what its script writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from golden import expected_results
from make import VERSIONS, conformance_files

from sparserec.device import errors, load, loads

FOLDER = Path(__file__).parents[2] / "conformance"


def cases(kind: str) -> list[dict[str, str]]:
    """Golden or malformed files of all versions, with paths relative to the conformance folder."""
    found = []
    for version in VERSIONS:
        index = json.loads((FOLDER / version / "index.json").read_text(encoding="utf-8"))
        for case in index[kind]:
            found.append(
                {key: value if key == "error" else f"{version}/{value}" for key, value in case.items()}
            )
    return found


@pytest.mark.parametrize("case", cases("golden"), ids=lambda case: Path(case["file"]).stem)
def test_golden(case: dict[str, str]) -> None:
    model = load(FOLDER / case["file"])
    model.self_test()
    expected = json.loads((FOLDER / case["expected"]).read_text(encoding="utf-8"))
    assert json.loads(json.dumps(expected_results((FOLDER / case["file"]).read_bytes()))) == expected


@pytest.mark.parametrize("case", cases("malformed"), ids=lambda case: Path(case["file"]).stem)
def test_malformed(case: dict[str, str]) -> None:
    with pytest.raises(errors.FileError) as caught:
        load(FOLDER / case["file"])
    assert type(caught.value).__name__ == case["error"]
    assert str(caught.value)


def test_every_file_error_has_a_malformed_file() -> None:
    named = {
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, errors.FileError)
    }
    assert {case["error"] for case in cases("malformed")} == named - {"FileError"}


@pytest.mark.parametrize("version", VERSIONS)
def test_folder_is_what_the_script_writes(version: str) -> None:
    folder = FOLDER / version
    written = dict(conformance_files(version))
    there = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert written.keys() == there.keys()
    assert [name for name in written if written[name] != there[name]] == []
    assert sum(map(len, there.values())) < 1_500_000


@pytest.mark.parametrize("length", [0, 7, 8, 34, 98, 99, 500])
def test_every_truncation_is_refused(length: int) -> None:
    data = (FOLDER / cases("golden")[0]["file"]).read_bytes()
    with pytest.raises(errors.FileError):
        loads(data[:length])
