"""TensorBoard: event files in the run folder, written anew from its events whenever a run goes on.

So they hold what events.jsonl holds, however often a run was killed, and a run is the same one in TensorBoard.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sparserec.extras import extras_named
from sparserec.runs import Record, RunFolder
from sparserec.tracking.tracker import Scalars, Tracker

OURS = "events.out.tfevents.*"


class TensorBoard(Tracker):
    """Writes event files into a folder, `tensorboard` of the run folder unless given: `tensorboard --logdir runs`."""

    name = "tensorboard"

    def __init__(self, folder: Path | str | None = None) -> None:
        with extras_named("the tracker tensorboard"):
            from tensorboardX import SummaryWriter

        self.make, self.given = SummaryWriter, folder
        self.writer: Any = None

    def folder_of(self, run: RunFolder) -> Path:
        """Where the files of a run go; in a folder that was given each run has its own."""
        return run.path / "tensorboard" if self.given is None else Path(self.given) / run.path.name

    def open(self, run: RunFolder, settings: dict[str, Any]) -> None:
        folder = self.folder_of(run)
        for file in folder.glob(OURS):
            file.unlink()
        self.writer = self.make(str(folder))
        lines = [f"| {name} | {_cell(value)} |" for name, value in settings.items()]
        self.writer.add_text("settings", "\n".join(["| setting | value |", "|---|---|", *lines]))

    def scalars(self, step: int, values: Scalars, seconds: float) -> None:
        for name, value in values.items():
            self.writer.add_scalar(name, value, step, seconds)
        self.writer.flush()

    def summary(self, run: RunFolder, record: Record, values: Scalars) -> None:
        for name, value in values.items():
            self.writer.add_scalar(name, value, self.epochs_before, run.record.stat().st_mtime)
        self.writer.add_text("record", f"```json\n{json.dumps(record.as_dict(), indent=1)}\n```")
        if find_spec("matplotlib") is not None:  # what drew the figures reads them too
            from matplotlib.image import imread

            for file in sorted(run.path.glob("*.png")):
                self.writer.add_image(file.stem, imread(file)[..., :3], dataformats="HWC")

    def close(self, finished: bool) -> None:
        self.writer.close()


def _cell(value: Any) -> str:
    return str(value).replace("|", "\\|")
