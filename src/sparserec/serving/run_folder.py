"""A run folder read back: all of it, or only what it says about itself; an error names what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sparserec.errors import RunError
from sparserec.training.config import RunConfig
from sparserec.training.reopen import Trained, reopen

CONFIG, RECORD, DATA = "config.json", "record.json", "data.safetensors"


def read_run(folder: Path) -> Trained:
    """A finished run, its parts checked to belong together."""
    read_config(folder)
    read_record(folder)
    try:
        run = reopen(folder)
    except KeyError as error:
        raise RunError(f"{folder}: {error} is missing; the run folder is damaged, train again") from None
    expected = run.split.n_items + (run.split.n_users if run.recommender.user_rows else 0)
    rows = run.table.shape.n_rows
    if rows != expected or run.split.hash != run.record.get("split", {}).get("hash"):
        raise RunError(
            f"{folder}: the table ({rows:,} rows), the data ({expected:,} rows to have) and the record are not of "
            "the same run; the folder is damaged, train again"
        )
    return run


def read_config(folder: Path) -> RunConfig:
    """The configuration a run was started with."""
    if not folder.exists():
        raise RunError(f"{folder}: no such run; `sparserec runs` lists those in a folder")
    if not (folder / CONFIG).is_file():
        raise RunError(f"{folder}: not a run folder (it has no {CONFIG}); `sparserec runs` lists runs")
    return RunConfig.parse(_read_json(folder / CONFIG), str(folder / CONFIG))


def read_record(folder: Path) -> dict[str, Any]:
    """What a finished run wrote down about itself."""
    if not (folder / RECORD).is_file():
        raise RunError(
            f"{folder}: this run is not finished (it has no {RECORD}); "
            f"continue it with `sparserec train --resume --run {folder}` and the settings it was started with"
        )
    return _read_json(folder / RECORD)


def _read_json(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RunError(f"{path}: damaged, not valid JSON ({error}); train again") from None
    if not isinstance(values, dict):
        raise RunError(f"{path}: damaged, expected a JSON object; train again")
    return values
