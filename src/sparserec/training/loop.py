"""The one loop: sample, step, let the method act, validate, checkpoint; for every method and every base.

while phase := method.next_phase(what is done):
    table = method.start(phase)
    for epoch in phase: for step in epoch: update; method.after_step
        validate every few epochs, keep the best, stop when patience runs out, write a checkpoint
    restore the best table
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from sparserec.errors import RunError, TrainingError
from sparserec.methods import Context, Phase, PhaseResult, StepInfo, Validation, ignore
from sparserec.process import PhasePeaks, StopRequested, StopSignals
from sparserec.progress import Progress, progress
from sparserec.recommenders import Steps
from sparserec.table import Ledger, Table, total
from sparserec.training.checkpoint import (
    Arrays,
    fitting,
    load_table,
    put_state,
    read_arrays,
    save_table,
    take_state,
    without_prefix,
    write_arrays,
)
from sparserec.training.config import EarlyStop
from sparserec.training.prepare import FirstTraining, Prepared

CHECKPOINT = "checkpoint.safetensors"
EPOCHS_APART = 100_000
"""Phases draw their batches from epochs this far apart, so that no two see the same order."""


@dataclass
class LoopState:
    """Where the loop is; everything here is stored in a checkpoint."""

    step: int = 0  # updates done in this phase
    loss_sum: float = 0.0  # over the current epoch
    seconds: float = 0.0  # trained so far, over all phases
    steps: int = 0  # updates over all phases
    early: EarlyStop = field(default_factory=EarlyStop)
    done: list[PhaseResult] = field(default_factory=list)
    events: int = 0  # lines of the record that belong to this state
    ledger: Ledger = field(default_factory=dict)  # largest of this phase so far
    counted: int = 0  # numbers as the paper counts them, largest of this phase so far

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> LoopState:
        early, done = EarlyStop(**values.pop("early")), [PhaseResult(**one) for one in values.pop("done")]
        return cls(**values, early=early, done=done)


@dataclass
class Loop:
    """One run of one method on one base."""

    prepared: Prepared
    folder: Path
    """Where checkpoints and the best table so far go."""
    emit: Callable[[dict[str, Any]], None]
    """Takes one line of the run's record."""
    peaks: PhasePeaks = field(default_factory=PhasePeaks)
    quiet: bool = True
    stops: tuple[float, ...] = ()
    """Share of each phase after which it ends: where validation ended it in the training that this one repeats."""
    context: Context = field(init=False)
    state: LoopState = field(default_factory=LoopState)
    stepper: Steps | None = None

    def __post_init__(self) -> None:
        validate = self._scored if len(self.prepared.split.valid) else None
        self.context = replace(self.prepared.context, validate=validate, record=self._record)
        self.method, self.sampler = self.prepared.method, self.prepared.sampler
        self.config, self.recipe = self.prepared.config, self.prepared.config.recipe
        self.processes, self.start = self.context.processes, self.prepared.start
        self.identity = {"config": self.config.digest(), "threads": torch.get_num_threads()}
        """What a checkpoint must agree on to be continued, and what only deserves a warning (threads)."""

    def run(self, resume: bool = False) -> Table:
        """Train all phases; returns the final table."""
        with StopSignals() as signals, self.peaks.phase("train"):
            stored = self._load() if resume else {}
            if self.start.first_training is not None and not self.state.done:
                self._take(self.start.first_training)
                stored = {}
            while (phase := self.method.next_phase(self.context, self.state.done)) is not None:
                self._phase(phase, stored, signals)
                stored = {}
        self.last_path = self._file("phase", len(self.state.done) - 1)
        return load_table(self.last_path, self.processes)

    def _take(self, run: FirstTraining) -> None:
        """Begin after the first phase, with what another run left of it."""
        phase = self.method.next_phase(self.context, [])
        assert phase is not None
        result = replace(run.result, name=phase.name, kept=phase.kept)
        save_table(self._file("phase", 0), load_table(run.model))
        self._emit({"event": "phase", **asdict(result), "taken_from": run.digest})
        self.state = LoopState(seconds=run.seconds, steps=run.steps, done=[result], events=self.state.events)
        self._save(None)

    # -- one phase ---------------------------------------------------------------------------------------------

    def _phase(self, phase: Phase, stored: Arrays, signals: StopSignals) -> None:
        number = len(self.state.done)
        table = self._start(phase, stored)
        stepper = self.stepper = self.prepared.stepper(table)
        if self.state.step == 0 and (phase.scored_first or (number == 0 and self.start.continues)):
            self._emit({"event": "start", "phase": phase.name} | self._validate(table, 0, False))
        last_step = phase.last_step(self.sampler.steps_per_epoch)
        if number < len(self.stops):  # where the training that this one repeats ended it
            last_step = min(last_step, max(1, round(self.stops[number] * last_step)))
        with progress(phase.name, last_step, self.quiet, done=self.state.step) as bar:
            self._train(phase, last_step, table, stepper, bar, signals)
        if phase.validated and self.state.early.best_score is not None:
            table = load_table(self._file("best"), self.processes)
        began = time.perf_counter()
        self.method.after_phase(self.context, phase, table)
        self.state.seconds += time.perf_counter() - began
        save_table(self._file("phase", number), table)
        self._note_sizes()
        state, per_epoch = self.state, self.sampler.steps_per_epoch
        best, epochs = state.early.best_score, -(-state.step // per_epoch)
        result = PhaseResult(phase.name, epochs, best, phase.kept, state.ledger, state.counted, state.step)
        # how much of the phase made the table that it left: all of it, unless an earlier epoch was the best
        steps = state.early.best_epoch * per_epoch if phase.validated and best is not None else state.step
        share = min(1.0, steps / max(phase.last_step(per_epoch), 1))
        self._emit({"event": "phase", **asdict(result), "best_epoch": state.early.best_epoch, "share": share})
        state.done.append(result)
        state.step, state.loss_sum, state.early, state.ledger, state.counted = 0, 0.0, EarlyStop(), {}, 0
        self._save(None)
        for earlier, one in enumerate(self.state.done[:-1]):  # only now may what the old checkpoint needed go
            if not one.kept and self.processes.first:
                for file in self.folder.glob(f"phase-{earlier}.*"):
                    file.unlink()

    def _start(self, phase: Phase, stored: Arrays) -> Table:
        """The phase's table, as new or as the checkpoint has it."""
        began, number = time.perf_counter(), len(self.state.done)
        earlier = number - 1 if phase.starts_from is None else phase.starts_from
        previous = load_table(self._file("phase", earlier), self.processes) if number > 0 else None
        context = replace(self.context, record=ignore) if "width" in stored else self.context
        if previous is None and self.start.continues:
            table = self.start.begin_table(self.method, context, phase)
        else:
            table = self.method.start(context, phase, previous)
        if "width" not in stored:
            self.state.seconds += time.perf_counter() - began
            return table
        if stored["width"][0] != table.shape.width:
            raise RunError(
                f"{self.folder / CHECKPOINT}: made with column blocks of {stored['width'][0]}, this version uses "
                f"{table.shape.width}; finish the run with the version that began it, or start it anew"
            )
        with fitting(self.folder / CHECKPOINT):
            parts = self._file("table")
            table.load(take_state(parts, without_prefix("table", stored), table.shape))
            self.method.load(without_prefix("method", stored))  # again: start may have begun it afresh
        return table

    def _record(self, event: str, **values: Any) -> None:
        """What methods add to the record: step and epoch are 0 before the first update of a phase."""
        epoch = -(-self.state.step // self.sampler.steps_per_epoch)
        self._emit({"event": event, "step": self.state.step, "epoch": epoch, **values})

    def _train(
        self, phase: Phase, last_step: int, table: Table, stepper: Steps, bar: Progress, signals: StopSignals
    ) -> None:
        state, per_epoch, note = self.state, self.sampler.steps_per_epoch, ""
        while state.step < last_step and state.early.waited < self.recipe.patience:
            began = time.perf_counter()
            epoch, index = divmod(state.step, per_epoch)
            rate = self.recipe.rate_at(state.step, per_epoch, phase.epochs, phase.learning_rate)
            batch = self.sampler.batch(len(state.done) * EPOCHS_APART + epoch, index)
            loss = stepper.run(batch, state.step + 1, rate)
            _check_finite(loss, phase, epoch + 1, index + 1, rate)
            state.step, state.steps, state.loss_sum = state.step + 1, state.steps + 1, state.loss_sum + loss
            now = StepInfo(phase, state.step, epoch + 1, per_epoch, rate)
            ended = self.method.after_step(self.context, table, now)
            state.seconds += time.perf_counter() - began
            if now.ends_epoch or ended or state.step == last_step:
                note = self._end_epoch(phase, table, now, ended)
            bar.advance(1, note or f"loss {loss:.4f}")
            if ended:  # before a stop: a checkpoint would not know that the method had ended the phase
                return
            if self.processes.any(signals.requested is not None):
                self._save(table)
                raise StopRequested(signals.requested)

    def _end_epoch(self, phase: Phase, table: Table, now: StepInfo, ended: bool) -> str:
        """After the last step of an epoch, or of a phase that ends inside one; a validated phase ends with a score."""
        state, epoch = self.state, now.epoch
        loss, state.loss_sum = state.loss_sum / ((now.step - 1) % now.steps_per_epoch + 1), 0.0
        last = ended or now.step == now.last_step
        self._note_sizes()
        event: dict[str, Any] = {
            "event": "epoch",
            "phase": phase.name,
            "epoch": epoch,
            "loss": loss,
            "learning_rate": now.learning_rate,
            "seconds": state.seconds,
            "parameters": table.parameters(),
        }
        note = f"epoch {epoch}/{phase.epochs} loss {loss:.4f}"
        due = last or epoch % self.recipe.validate_every == 0 or epoch == phase.epochs
        scored = phase.validated and due
        if scored and self.context.validate is not None:
            event |= self._validate(table, epoch, epoch > self.recipe.patience_from * phase.epochs)
            note += f" {self.config.score_name} {event['valid'][self.config.score_name]:.4f}"
        if epoch in self.config.test_epochs:
            with self.peaks.phase("evaluate"):
                event["test_curve"] = self.prepared.test(table).metrics
        self._emit(event)
        if not ended and (epoch % self.config.checkpoint_every == 0 or last):
            self._save(table)
        return note

    def _validate(self, table: Table, epoch: int, counts: bool) -> dict[str, Any]:
        """Score a table and keep it on disk if it is the phase's best so far; returns lines for the record."""
        if self.context.validate is None:
            return {}
        found = self._scored(table)
        if self.state.early.see(epoch, found.score, counts, table.parameters()):
            save_table(self._file("best"), table)
        return {"valid": found.metrics, "mask": support_stats(table, self.context.frequencies())}

    def _scored(self, table: Table, also_at: tuple[int, ...] = ()) -> Validation:
        """A table on the validation part; a method may ask for it while it chooses."""
        with self.peaks.phase("evaluate"):
            found = self.prepared.validate(table, also_at)
        return Validation(found.metrics[self.config.score_name], found.metrics, found.per_user, found.users)

    def _note_sizes(self, count: bool = True) -> None:
        """Keep the largest ledger and count of the phase, where epochs end: what a method holds may come and go.

        The ledger also where a training stops: a stepper knows the largest of its own steps only.
        """
        assert self.stepper is not None
        self.state.ledger = max(self.state.ledger, self.stepper.ledger(), key=total)
        if count:
            self.state.counted = max(self.state.counted, self.stepper.table.counted_numbers())

    def _emit(self, event: dict[str, Any]) -> None:
        self.emit(event)
        self.state.events += 1

    # -- what is kept on disk ----------------------------------------------------------------------------------

    def _file(self, kind: Literal["phase", "best", "table"], phase: int = 0) -> Path:
        """A table on disk: what a phase left, the best one of this phase so far, or what parts of a checkpoint that
        several processes write are named after.
        """
        best = f"{len(self.state.done)}-{self.state.early.best_epoch}"
        name = {"phase": phase, "best": best, "table": self.state.steps}[kind]
        return self.folder / f"{kind}-{name}.safetensors"

    def _save(self, table: Table | None) -> None:
        """Write a checkpoint; without a table between two phases, where the finished phase has its own file."""
        arrays = {f"method.{name}": array for name, array in self.method.state().items()}
        parts = self._file("table")
        if table is not None:
            held = put_state(parts, table.state(), table.shape)
            arrays |= {f"table.{name}": array for name, array in held.items()}
            arrays |= {"width": np.array([table.shape.width])}
            self._note_sizes(count=False)
        state = self.identity | {"loop": asdict(self.state)}
        write_arrays(self.folder / CHECKPOINT, arrays, state, self.processes)
        if self.processes.first:  # only now may what the old checkpoint named go
            in_use = self._file("best").stem, parts.stem if table is not None else ""
            for path in (*self.folder.glob("best-*.safetensors"), *self.folder.glob("table-*.safetensors")):
                if path.name.split(".")[0] not in in_use:
                    path.unlink()

    def _load(self) -> Arrays:
        path = self.folder / CHECKPOINT
        if not path.exists():
            return {}
        arrays, stored = read_arrays(path)
        ours = self.identity
        if stored.get("config") != ours["config"]:
            raise RunError(
                f"{path}: this checkpoint belongs to another configuration ({stored.get('config')}, not "
                f"{ours['config']}); resume with the run's own settings or use a new run folder"
            )
        if stored.get("threads") != ours["threads"]:
            warnings.warn(
                f"the checkpoint was made with {stored.get('threads')} threads, this run has "
                f"{ours['threads']}: the result may differ in the last bits",
                stacklevel=2,
            )
        with fitting(path):
            self.state = LoopState.from_json(stored["loop"])
            self.method.load(without_prefix("method", arrays))
        return arrays


def _check_finite(loss: float, phase: Phase, epoch: int, step: int, rate: float) -> None:
    if not math.isfinite(loss):
        raise TrainingError(
            f"the loss became {loss} in phase {phase.name!r}, epoch {epoch}, step {step}, at learning rate "
            f"{rate:.3g}; lower recipe.learning_rate or look for extreme base settings. The last checkpoint is intact"
        )


# What the support looks like: density per table, empty rows, and whether frequent rows got more entries.


def correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Pearson correlation, 0 where one side does not vary."""
    x, y = x - x.mean(), y - y.mean()
    scale = float(np.sqrt((x * x).sum() * (y * y).sum()))
    return float((x * y).sum() / scale) if scale > 0 else 0.0


def ranks(x: np.ndarray) -> np.ndarray:
    """Average ranks, ties shared; correlation of ranks is Spearman's."""
    _, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2.0)[inverse]


def support_stats(table: Table, frequencies: tuple[np.ndarray, np.ndarray]) -> dict[str, float]:
    """Statistics of a table's support; empty for tables that have none."""
    sizes, n_users, dim = table.row_sizes(), table.shape.n_users, table.shape.dim
    if sizes is None:
        return {}
    stats = {"density": table.parameters() / (table.shape.n_rows * dim)}
    for side, part, counts in (
        ("users", sizes[:n_users], frequencies[0]),
        ("items", sizes[n_users:], frequencies[1]),
    ):
        if len(part) == 0:  # a table of items alone
            continue
        stats[f"density_{side}"] = float(part.mean() / dim)
        stats[f"empty_{side}"] = float((part == 0).mean())
        stats[f"pearson_{side}"] = correlation(part.astype(np.float64), counts.astype(np.float64))
        stats[f"spearman_{side}"] = correlation(ranks(part), ranks(counts))
    return stats
