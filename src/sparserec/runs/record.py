"""What is written about a run: a line per event while it trains, one record when it is done."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ValidationError

from sparserec.errors import RunError
from sparserec.files import write_text

VERSION = 2
"""Records without a version are of before there was one: they have the same fields."""
PACKAGES = ("torch", "numpy", "scipy", "scikit-learn", "numba", "safetensors")


class SplitRecord(BaseModel):
    """Which split of the data a run was trained on."""

    protocol: str
    seed: int
    hash: str


class MemoryRecord(BaseModel):
    """Bytes, counted in three ways."""

    formula: int
    """The paper's count of numbers, as float32."""
    ledger: dict[str, int]
    """By role, of the phase that held most."""
    peak: dict[str, int]
    """Measured above the start, for reading, preparing, training and evaluating."""


class Seconds(BaseModel):
    """How long the parts of a run took."""

    prepare: float = 0.0
    train: float
    """Of all its processes, where a run was stopped and resumed."""
    total: float = 0.0
    """Of the process that finished it."""


class PhaseRecord(BaseModel):
    """One training inside the method."""

    name: str
    epochs: int
    best_score: float | None
    kept: bool = False
    ledger: dict[str, int] = {}
    counted: int = 0
    steps: int = 0


class FinalRecord(BaseModel):
    """The training on everything that followed the measured one. Nothing was left to measure it on."""

    interactions: int
    epochs: list[PhaseRecord]
    parameters: int
    steps: int
    seconds: Seconds


class Record(BaseModel):
    """What a finished run says about itself: everything that traces a number of a table to where it came from."""

    version: int = 1
    config: dict[str, Any]
    """Settings as given, defaults filled in; an older version may have had others than RunConfig has now."""
    base_settings: dict[str, Any]
    method_settings: dict[str, Any]
    digest: str
    environment: dict[str, Any]
    """Versions, machine, threads and commit."""
    split: SplitRecord
    data: dict[str, Any]
    """What was understood of the input."""
    parameters: int
    dim: int
    density_with_users: float | None = None
    """Parameters as a share of a table with a row for every user and item, whatever rows this one has."""
    batch_rows: dict[str, int] | None = None
    """Rows of the last training's largest batch, and of all: the share of all outputs that lives in a step."""
    softmax: dict[str, int] | None = None
    """How many `items` a softmax over items ran over in a step, `of` how many; None for other losses."""
    temperatures: dict[str, float] | None = None
    """Validation scores of the temperatures of base history that short trainings chose among."""
    lengths: dict[str, float] | None = None
    """The same of exponents of its items' lengths."""
    bytes: dict[str, int]
    """Of the table on disk, by precision."""
    memory: MemoryRecord
    seconds: Seconds
    steps: int
    cost: float
    """Steps in units of one full training."""
    epochs: list[PhaseRecord]
    explorations: int | None = None
    """How often the support was changed by dropping and growing; None in records of before it was counted."""
    nmf: dict[str, Any] | None = None
    mask: dict[str, float] = {}
    test_curve: bool = False
    """Whether the test set was measured while training, at epochs named beforehand."""
    test_by_epoch: dict[int, dict[str, float]] = {}
    """What was measured there."""
    test_opened: str | None = None
    """When the test set was opened; None for a search, which leaves it closed."""
    test_opened_again: list[str] = []
    test: dict[str, dict[str, float]] = {}
    """Metrics on the test set of the float, int8 and int4 table."""
    valid: dict[str, float] | None = None
    """Metrics on the validation set, of what is fitted in one go."""
    search: list[dict[str, Any]] | None = None
    """Settings that were tried on the validation set, with their score."""
    export: dict[str, Any] | None = None
    """Size and quality of a small file: the encoding that `export` begins with."""
    shipped: dict[str, Any] | None = None
    """The file that was chosen for a budget: which encoding, out of what, and why."""
    final: FinalRecord | None = None
    """Of the model in the folder `final`, which is what is shipped; all other figures are of the measured one."""

    def __getitem__(self, name: str) -> Any:
        """A field as JSON has it: `record["test"]["float"]["ndcg@20"]`."""
        return self.as_dict()[name]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return self.model_dump(mode="json")

    @property
    def times_opened(self) -> int:
        """How often the test set was opened, the one time after training included."""
        return int(self.test_opened is not None) + len(self.test_opened_again)

    @classmethod
    def parse(cls, values: dict[str, Any], where: str) -> Self:
        """A record read back; `where` names its file."""
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            wrong = ", ".join(".".join(map(str, problem["loc"])) for problem in error.errors()[:3])
            raise RunError(
                f"{where}: not a record of a run ({wrong} is missing or wrong); train again"
            ) from None


def now() -> str:
    """The time as records have it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


@dataclass
class Recorder:
    """Appends events to a JSONL file; a resumed run first drops the lines after its checkpoint."""

    path: Path

    def keep(self, lines: int) -> None:
        """Forget all but the first `lines` events, which must be there."""
        if not self.path.exists() and not lines:
            return
        kept = self._lines()[:lines]
        if len(kept) < lines:
            raise RunError(
                f"{self.path}: has {len(kept)} lines where the checkpoint knows of {lines}; copy the file back, or "
                "delete the run folder and train again"
            )
        for number, line in enumerate(kept, 1):
            self._event(number, line)
        write_text(self.path, "".join(f"{line}\n" for line in kept))

    def __call__(self, event: dict[str, Any]) -> dict[str, Any]:
        """Write an event down; returns it with its time."""
        timed = {**event, "time": round(time.time(), 1)}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(timed) + "\n")
            file.flush()
            os.fsync(file.fileno())  # a checkpoint counts on it, after a power cut too
        return timed

    def events(self) -> list[dict[str, Any]]:
        """All events so far; a last line cut off by a crash is left out."""
        lines = self._lines()
        if lines and not lines[-1].endswith("}"):
            lines.pop()
        return [self._event(number, line) for number, line in enumerate(lines, 1)]

    def _lines(self) -> list[str]:
        """Without their ends; JSON has no other line ends than these inside."""
        if not self.path.exists():
            return []
        text = self.path.read_text(encoding="utf-8", errors="replace").rstrip("\n")
        return text.split("\n") if text else []

    def _event(self, number: int, line: str) -> dict[str, Any]:
        try:
            event = json.loads(line)
        except ValueError:
            event = None
        if not isinstance(event, dict) or "event" not in event:
            raise RunError(
                f"{self.path}:{number}: damaged, not an event ({line[:40]!r}); copy the file back, or delete the run "
                "folder and train again"
            )
        return event


def environment() -> dict[str, Any]:
    """Versions, machine and threads: what one needs to explain a difference between two results."""
    import torch

    versions: dict[str, str | None] = dict.fromkeys(("sparserec", *PACKAGES))
    for name in versions:
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return {
        "sparserec": versions["sparserec"],
        "python": platform.python_version(),
        "packages": {name: versions[name] for name in PACKAGES},
        "machine": platform.machine(),
        "system": platform.system(),
        "threads": torch.get_num_threads(),
        "mkl": torch.backends.mkl.is_available(),
        "commit": commit(),
    }


def commit() -> str | None:
    """Commit of the source tree the package runs from, with a + when it has local changes; None when installed."""
    root = Path(__file__).resolve().parents[3]
    if not (root / ".git").exists():
        return None
    try:
        head = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=True
        )
        changed = subprocess.run(
            ["git", "status", "--porcelain", "--untracked-files=no", "src"],
            cwd=root,
            capture_output=True,
            text=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return head.stdout.strip()[:12] + ("+" if changed.stdout.strip() else "")
