"""Read, plan, train, record: the one way from data to a run, its test set opened once and everything written down."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from sparserec.data import Source, read_item_info, read_source, resolve
from sparserec.memory import PhasePeaks, return_large_blocks
from sparserec.planning import PlanOptions, plan_run
from sparserec.progress import say
from sparserec.runs.figures import write_figures
from sparserec.runs.folder import RunFolder
from sparserec.runs.measure import open_test
from sparserec.runs.record import VERSION, Record, Recorder, environment, now
from sparserec.runs.stored_split import save_split
from sparserec.runs.trained import Trained
from sparserec.table import Table, total
from sparserec.training import (
    CHECKPOINT,
    HistoryStepper,
    Loop,
    Prepared,
    RunConfig,
    Start,
    Steps,
    prepare_run,
    read_arrays,
    save_table,
    support_stats,
)


@dataclass
class Finished:
    """A trained run, still in memory."""

    folder: Path
    prepared: Prepared
    table: Table
    record: Record


@dataclass(frozen=True, eq=False)
class Input:
    """Where interactions come from."""

    data: Any
    """A path, the name of a data set, or interactions in memory."""
    data_dir: Path | str | None = None
    metadata: Path | str | None = None
    """A file with ids, titles and tags of the items."""

    def read(self, options: dict[str, Any]) -> Source:
        """The interactions, with names for the items where there are any."""
        named = isinstance(self.data, str | PathLike)
        source = resolve(self.data, self.data_dir, **options) if named else read_source(self.data, **options)
        if self.metadata is None:
            return source
        return source.with_item_info(read_item_info(self.metadata, source.train.item_ids))


def train_run(
    config: RunConfig,
    folder: Path | None = None,
    source: Source | Input | None = None,
    options: PlanOptions | None = None,
    start: Start | None = None,
    resume: bool = False,
    quiet: bool = True,
) -> Finished:
    """Read the data, settle what depends on its size, train, measure, and write everything into a run folder.

    Without a `source` the data is what the configuration names, without a `folder` one is named after it. `start`
    begins from a finished run. With `resume` a stopped run continues exactly where it was.
    """
    began = time.perf_counter()
    return_large_blocks()  # before reading, so that what was read can be given back to the system
    peaks, start = PhasePeaks(), start or Start()
    config = start.configure(config)
    with peaks.phase("read"):
        source = _read(source, config)
    plan = plan_run(config, source, options or PlanOptions(), factorises=start.factorises)
    say("\n".join(plan.notes), quiet or not plan.notes)
    config = start.configure(plan.config)
    run = RunFolder(folder or _named_after(config))
    run.begin(config, resume)
    prepared = prepare_run(config, source, start, peaks, quiet)
    del source  # the split is all that training needs: as many bytes again are given back
    say("\n".join(prepared.report.lines()), quiet)
    save_split(run.data, prepared.split)
    prepared_seconds = time.perf_counter() - began
    recorder = Recorder(run.events)
    recorder.keep(_stored_events(run) if resume else 0)
    loop = Loop(prepared, run.work, recorder, start.first_training, peaks, quiet)
    table = loop.run(resume)
    save_table(run.model, table)
    record = _record(loop, table, prepared_seconds)
    record.explorations = sum(event["event"] == "explore" for event in recorder.events())
    if config.open_test and len(prepared.split.test):
        parts = prepared.split, prepared.graph, prepared.recommender, table, record
        open_test(Trained(run, config, *parts), peaks, quiet)
        record.memory.peak = peaks.bytes
    record.seconds.total = time.perf_counter() - began
    run.write_record(record)
    write_figures(run, table, prepared.split.train)
    return Finished(run.path, prepared, table, record)


def _read(source: Source | Input | None, config: RunConfig) -> Source:
    if isinstance(source, Source):
        return source
    return (source or Input(config.data)).read(config.read)


def _named_after(config: RunConfig) -> Path:
    return Path("runs") / f"{Path(config.data).stem}-{config.method}-{config.digest()[:8]}"


def _stored_events(run: RunFolder) -> int:
    path = run.work / CHECKPOINT
    return int(read_arrays(path)[1]["loop"]["events"]) if path.exists() else 0


def _softmax(stepper: Steps | None) -> dict[str, int] | None:
    if not isinstance(stepper, HistoryStepper):
        return None
    return {"items": stepper.histories.softmax_items, "of": stepper.graph.n_items}


def _record(loop: Loop, table: Table, prepared_seconds: float) -> Record:
    """All that is known before the test set is opened."""
    prepared, done = loop.prepared, loop.state.done
    config, split, factors = prepared.config, prepared.split, prepared.context.factors
    values = {
        "version": VERSION,
        "config": config.model_dump(mode="json"),
        "base_settings": prepared.recommender.settings.model_dump(mode="json"),
        "method_settings": prepared.method.settings.model_dump(mode="json"),
        "digest": config.digest(),
        "environment": environment(),
        "split": {"protocol": split.protocol, "seed": split.seed, "hash": split.hash},
        "data": prepared.report.as_dict(),
        "parameters": table.parameters(),
        "dim": table.shape.dim,
        "density_with_users": table.parameters() / ((split.n_users + split.n_items) * table.shape.dim),
        "softmax": _softmax(loop.stepper),
        "temperatures": prepared.temperatures,
        "bytes": {"int8": table.stored_bytes(8), "int4": table.stored_bytes(4)},
        "memory": {
            "formula": 4 * max(result.counted for result in done),  # float32
            "ledger": max((result.ledger for result in done), key=total),
            "peak": loop.peaks.bytes,
        },
        "seconds": {"prepare": prepared_seconds, "train": loop.state.seconds},
        "steps": loop.state.steps,
        "cost": loop.state.steps / (prepared.context.epochs * prepared.sampler.steps_per_epoch),
        "epochs": [asdict(result) for result in done],
        "nmf": asdict(factors.info) if factors is not None else None,
        "mask": support_stats(table, prepared.context.frequencies()),
        "test_curve": bool(config.test_epochs),
        "test_opened": now() if config.open_test else None,
    }
    return Record.model_validate(values)
