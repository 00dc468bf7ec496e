"""Result files: JSON lines, one per finished run, with everything that traces the number, and its users beside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sparserec.errors import DataError, SettingError
from sparserec.runs.folder import RunFolder
from sparserec.runs.measure import METRIC, PRECISION, record_users, recorded_path

Result = dict[str, Any]


def read_results(path: Path) -> list[Result]:
    """All results of a file; empty when there is none yet."""
    if not path.exists():
        return []
    results = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            results.append(json.loads(line))
        except json.JSONDecodeError as error:
            raise DataError(
                f"{path}, line {number}: not JSON ({error.msg}); delete the line and run the queue again"
            ) from None
    return results


def append_result(path: Path, name: str, run: RunFolder) -> None:
    """Add a finished run under its name in the queue; folders of this machine are left out of file names.

    Its users are written first: a line that has the metric has them too.
    """
    record = run.read_record()
    if METRIC in record.test.get(PRECISION, {}) and run.per_user.exists():
        record_users(recorded_path(path, name), run)
    data = {**record.data, "files": [Path(file).name for file in record.data["files"]]}
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"name": name, **record.as_dict(), "data": data}) + "\n")


def find_result(folder: Path, name: str) -> tuple[Path, Result]:
    """The file and line of a result by NAME, or by FILE:NAME where several files have the name."""
    stem, _, own = name.rpartition(":")
    files = [folder / f"{stem}.jsonl"] if stem else sorted(folder.glob("*.jsonl"))
    found = [(file, row) for file in files for row in read_results(file) if row.get("name") == own]
    if not found:
        raise SettingError(
            f"{name}: neither a run folder nor the name of a result in {folder}; `sparserec table "
            f"{folder}/*.jsonl --columns run` lists those"
        )
    if len(found) > 1:
        known = ", ".join(f"{file.stem}:{own}" for file, _ in found)
        raise SettingError(f"{name}: several results have this name; give one of {known}")
    return found[0]
