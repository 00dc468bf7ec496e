"""A run folder: the names of its files, and what it says about itself; an error names what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sparserec.errors import RunError
from sparserec.files import write_text
from sparserec.runs.record import Record, Recorder, environment
from sparserec.training import RunConfig, differences

CONFIG = "config.json"


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
        self.record = self.path / "record.json"
        """Written last: a run that has it is finished."""
        self.work = self.path / "work"
        """Checkpoints: of use to a resumed training only."""
        self.device_file = self.path / "model.srec"

    @property
    def begun(self) -> bool:
        return self.config.is_file()

    @property
    def finished(self) -> bool:
        return self.record.is_file()

    def begin(self, config: RunConfig, resume: bool) -> None:
        """Write down the settings, or see that they are those the run was begun with."""
        if self.begun:
            before = self.read_config()
            if before.digest() != config.digest():
                raise RunError(
                    f"{self.path}: holds a run with other settings ({differences(before, config)}); give the same ones "
                    "to continue it, or choose another folder with --run"
                )
            if self.finished:
                raise RunError(f"{self.path}: this run is finished; its results are in {self.record}")
            if not resume:
                raise RunError(
                    f"{self.path}: holds an unfinished run; continue it with --resume or delete the folder"
                )
        elif self.path.exists() and any(self.path.iterdir()):
            raise RunError(f"{self.path}: exists and is not a run folder; choose another one")
        write_text(self.config, json.dumps(config.model_dump(mode="json"), indent=1))
        write_text(self.environment, json.dumps(environment(), indent=1))

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
                f"continue it with `sparserec train --resume --run {self.path}` and the settings it was started with"
            )
        return Record.parse(_read_json(self.record), str(self.record))

    def write_record(self, record: Record) -> None:
        """The last thing a run does."""
        write_text(self.record, json.dumps(record.as_dict(), indent=1))

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
