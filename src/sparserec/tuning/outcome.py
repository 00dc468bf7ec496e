"""What a search found: its trials, the best of them by validation, and how much training that took."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

State = Literal["finished", "pruned", "failed"]


@dataclass(frozen=True)
class Trial:
    """One training of a search."""

    number: int
    state: State
    score: float | None
    """On validation: the best of a finished trial, the last of a pruned one."""
    epochs: int
    """Over all its phases."""
    seconds: float
    settings: dict[str, Any]
    """What it changed; the first one changes nothing."""
    defaults: bool = False
    folder: str | None = None
    """Its run inside the search; a pruned one has left none."""


@dataclass(frozen=True)
class Outcome:
    """A search that has ended."""

    folder: Path
    score_name: str
    trials: tuple[Trial, ...]
    tests_opened: int
    """Runs whose test set was opened: 1, more where a search went on after it had measured a winner."""

    @property
    def best(self) -> Trial:
        return best_of(self.trials)

    @property
    def best_folder(self) -> Path:
        return self.folder / str(self.best.folder)

    def count(self, state: State) -> int:
        return sum(trial.state == state for trial in self.trials)

    @property
    def trainings(self) -> float:
        """Epochs of all trials, in trainings that nothing has ended early."""
        return sum(trial.epochs for trial in self.trials) / max(trial.epochs for trial in self.trials)

    def rows(self) -> list[dict[str, Any]]:
        """A line per trial, best first, those that did not finish below."""
        ordered = sorted(
            self.trials, key=lambda one: (one.state != "finished", -(one.score or 0.0), one.number)
        )
        names = sorted({name for trial in self.trials for name in trial.settings})
        return [
            {
                "trial": trial.number,
                "state": trial.state,
                self.score_name: trial.score,
                "epochs": trial.epochs,
                "seconds": round(trial.seconds, 1),
                **{name: trial.settings.get(name) for name in names},
            }
            for trial in ordered
        ]

    def lines(self) -> list[str]:
        """What the search cost and what that means for a comparison."""
        lines = [
            f"{len(self.trials)} trials, the first with the defaults: {self.count('finished')} finished, "
            f"{self.count('pruned')} pruned, {self.count('failed')} failed; same data, split and budget for all",
            f"effort: as many epochs as {self.trainings:.1f} full trainings; whatever is compared deserves as many",
            f"trial {self.best.number} is best on validation; test sets opened: {self.tests_opened}"
            + (
                ", because the search went on after its first winner"
                if self.tests_opened > 1
                else ", of it alone"
            ),
        ]
        return lines

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "folder": str(self.folder),
            "metric": self.score_name,
            "best": self.best.number,
            "best_folder": str(self.best_folder),
            "trainings": self.trainings,
            "tests_opened": self.tests_opened,
            "trials": [asdict(trial) for trial in self.trials],
        }


def best_of(trials: tuple[Trial, ...]) -> Trial:
    """The finished trial with the largest score, of equal ones the first."""
    return max(
        (one for one in trials if one.state == "finished" and one.score is not None),
        key=lambda one: (one.score, -one.number),
    )
