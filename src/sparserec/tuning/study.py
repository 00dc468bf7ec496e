"""A study of Optuna in a folder: who may take which trial, and what becomes of those whose process died.

A trial is asked for, and locked, while the study's own lock is held. So a trial that runs without anybody holding its
lock is that of a process that died; it is begun again under a new number, in the same run folder, which goes on exactly
where it was. Draws depend on the seed and on the trials before alone: a search that was stopped goes on as if it had
not been.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparserec.extras import extras_named
from sparserec.files import file_lock
from sparserec.tuning.outcome import State, Trial
from sparserec.tuning.space import Searched

if TYPE_CHECKING:
    import optuna

JOURNAL, LOCK, TRIALS = "journal.log", "lock", "trials"
FIRST_UNPRUNED = 4
"""Trials that finish whatever they score, so that there is a median to be compared with."""
WAIT = 0.05


@dataclass
class Taken:
    """A trial that this process trains."""

    trial: optuna.trial.Trial
    values: dict[str, Any]
    folder: Path
    defaults: bool
    held: ExitStack


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """No other process works on what the folder says about its trials; waits for those that do."""
    folder.mkdir(parents=True, exist_ok=True)
    while True:
        with file_lock(folder / LOCK) as owner:
            if owner is None:
                yield
                return
        time.sleep(WAIT)


class Study:
    """The trials of one search."""

    def __init__(self, folder: Path, space: tuple[Searched, ...], seed: int) -> None:
        with extras_named("sparserec.tune"):
            import optuna
            from optuna.storages.journal import JournalFileBackend

        self.folder, self.space, self.seed, self.optuna = folder, space, seed, optuna
        with self.alone(), self._calm():
            self.study = optuna.create_study(
                storage=optuna.storages.JournalStorage(JournalFileBackend(str(folder / JOURNAL))),
                study_name="tune",
                direction="maximize",
                load_if_exists=True,
                pruner=optuna.pruners.MedianPruner(n_startup_trials=FIRST_UNPRUNED),
            )
            if not self._trials():
                defaults = {one.path: one.default for one in space if one.starts_at_default}
                self.study.enqueue_trial(defaults, user_attrs={"defaults": True})

    def alone(self) -> AbstractContextManager[None]:
        """No other process changes the study meanwhile."""
        return alone_in(self.folder)

    def take(self, most: int | None) -> Taken | None:
        """A trial to train, unless as many are finished or under way already."""
        with self.alone(), self._calm():
            self._revive()
            running = self._trials("RUNNING")
            if most is not None and len(self.ended()) + len(running) >= most:
                return None
            place = len(self.ended()) + len(running)  # not its number: one that was begun again has two
            self.study.sampler = self.optuna.samplers.TPESampler(seed=1000 * self.seed + place)
            trial = self.study.ask()
            held = ExitStack()
            held.enter_context(file_lock(self._lock(trial.number)))
            defaults = bool(trial.user_attrs.get("defaults"))
            values = {
                one.path: self._suggest(trial, one)
                for one in self.space
                if not defaults or one.starts_at_default
            }
            folder = trial.user_attrs.get("folder") or f"{TRIALS}/{trial.number:03d}"
            trial.set_user_attr("folder", folder)
            return Taken(trial, values, self.folder / folder, defaults, held)

    def tell(self, taken: Taken, state: State, score: float | None, epochs: int, seconds: float) -> None:
        """Write down how a trial ended, and let go of it."""
        states = self.optuna.trial.TrialState
        kinds = {"finished": states.COMPLETE, "pruned": states.PRUNED, "failed": states.FAIL}
        with self.alone(), self._calm(), taken.held:
            taken.trial.set_user_attr("epochs", epochs)
            taken.trial.set_user_attr("seconds", seconds)
            taken.trial.set_user_attr("ended", state)
            self.study.tell(taken.trial, score if state == "finished" else None, kinds[state])

    def others(self) -> bool:
        """Whether a process is training a trial."""
        with self.alone():
            return any(self._held(one.number) for one in self._trials("RUNNING"))

    def ended(self) -> tuple[Trial, ...]:
        """Trials with an outcome; one that was begun again under another number is that other one."""
        return tuple(
            _trial(one)
            for state, told in (("COMPLETE", "finished"), ("PRUNED", "pruned"), ("FAIL", "failed"))
            for one in self._trials(state)
            if one.user_attrs.get("ended") == told
        )

    def _revive(self) -> None:
        for one in self._trials("RUNNING"):
            if not self._held(one.number):
                self.study.tell(one.number, state=self.optuna.trial.TrialState.FAIL)
                self.study.enqueue_trial(
                    one.params, user_attrs=dict(one.user_attrs) | {"goes_on": one.number}
                )

    def _held(self, number: int) -> bool:
        with file_lock(self._lock(number)) as owner:
            return owner is not None

    def _suggest(self, trial: optuna.trial.Trial, one: Searched) -> float:
        if one.whole:
            return trial.suggest_int(one.path, int(one.low), int(one.high), log=one.log)
        return trial.suggest_float(one.path, one.low, one.high, log=one.log)

    def _trials(self, *states: str) -> list[optuna.trial.FrozenTrial]:
        kinds = tuple(self.optuna.trial.TrialState[name] for name in states)
        return self.study.get_trials(deepcopy=False, states=kinds or None)

    def _lock(self, number: int) -> Path:
        (self.folder / TRIALS).mkdir(exist_ok=True)
        return self.folder / TRIALS / f"{number:03d}.lock"

    @contextmanager
    def _calm(self) -> Iterator[None]:
        """Optuna's own lines left out: ours say the same."""
        before = self.optuna.logging.get_verbosity()
        self.optuna.logging.set_verbosity(self.optuna.logging.ERROR)
        try:
            yield
        finally:
            self.optuna.logging.set_verbosity(before)


def _trial(one: optuna.trial.FrozenTrial) -> Trial:
    told, state = one.user_attrs, one.user_attrs["ended"]
    reports = one.intermediate_values
    score = one.value if state == "finished" else reports[max(reports)] if state == "pruned" else None
    return Trial(
        one.number,
        state,
        score,
        told["epochs"],
        told["seconds"],
        dict(one.params),
        bool(told.get("defaults")),
        told["folder"] if state == "finished" else None,
    )
