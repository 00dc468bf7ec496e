"""TensorBoard: event files in the run folder, written anew from its events whenever a run goes on.

So they hold what events.jsonl holds, however often a run was killed, and a run is the same one in TensorBoard. Where
runs share a folder, a note beside the files of each says whose they are: only its own are ever replaced.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

from sparserec.extras import extras_named
from sparserec.runs import Record, RunFolder
from sparserec.tracking.tracker import Scalars, Tracker

OURS = "events.out.tfevents.*"
NOTE = "run-folder.txt"
"""Beside event files in a folder that was given: the path of the run folder that they are from."""


class TensorBoard(Tracker):
    """Writes event files into `tensorboard` of the run folder: `tensorboard --logdir runs`.

    In a `folder` that is given each run has one of its own, called like its run folder: `run`, and `run-2` for the next
    one of that name.
    """

    name = "tensorboard"

    def __init__(self, folder: Path | str | None = None) -> None:
        with extras_named("the tracker tensorboard"):
            from tensorboardX import SummaryWriter

        self.make, self.given = SummaryWriter, folder
        self.writer: Any = None

    def folder_of(self, run: RunFolder) -> Path:
        """Where the files of a run go."""
        if self.given is None:
            return run.path / "tensorboard"
        owner = run.path.resolve()
        names = (owner.name if number == 1 else f"{owner.name}-{number}" for number in count(1))
        return next(place for name in names if _is_of(place := Path(self.given) / name, owner))

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


def _is_of(place: Path, owner: Path) -> bool:
    """Whether event files here are those of this run folder; a place that has none becomes its own."""
    note = place / NOTE
    if not note.exists() and any(place.glob(OURS)):  # an older version did not say whose they are
        return False
    place.mkdir(parents=True, exist_ok=True)
    try:
        with note.open("x", encoding="utf-8") as file:  # of two runs that begin at once one gets it
            file.write(str(owner))
    except FileExistsError:
        return note.read_text(encoding="utf-8") == str(owner)
    return True


def _cell(value: Any) -> str:
    return str(value).replace("|", "\\|")
