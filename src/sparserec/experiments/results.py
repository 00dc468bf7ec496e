"""Result files: JSON lines, one per finished run, with everything that traces the number."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sparserec.errors import DataError


def read_results(path: Path) -> list[dict[str, Any]]:
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


def finished_names(path: Path) -> set[str]:
    """Names of the runs a result file holds."""
    return {result["name"] for result in read_results(path)}


def append_result(path: Path, name: str, record: dict[str, Any]) -> None:
    """Add a finished run under its name in the queue; folders of this machine are left out of file names."""
    data = {**record["data"], "files": [Path(file).name for file in record["data"]["files"]]}
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"name": name, **record, "data": data}) + "\n")
