"""Read, plan, train, record: the one way from data to a run, its test set opened once and everything written down."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from sparserec.data import Source, read_item_info, read_source, resolve
from sparserec.distributed import Processes
from sparserec.evaluation import Evaluation
from sparserec.methods import make_method
from sparserec.planning import PlanOptions, plan_run
from sparserec.process import PhasePeaks, return_large_blocks, threads_for
from sparserec.progress import say
from sparserec.runs.draw import write_figures
from sparserec.runs.folder import RunFolder, load_split, save_split
from sparserec.runs.observers import Watched
from sparserec.runs.record import VERSION, FinalRecord, Record, Recorder, environment, now
from sparserec.runs.trained import Trained, measure_test, note_test, open_run
from sparserec.table import Table, total
from sparserec.training import (
    CHECKPOINT,
    Loop,
    Prepared,
    RunConfig,
    Start,
    fitting,
    load_table,
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
    metadata: Any = None
    """A file or data frame with ids, titles and tags of the items."""

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
    watched: Watched | None = None,
) -> Finished:
    """Read the data, settle what depends on its size, train, measure, and write everything into a run folder.

    Without a `source` the data is what the configuration names, without a `folder` one is named after it. `start`
    begins from a finished run. With `resume` a stopped run continues exactly where it was. A `final` configuration
    trains twice: once to be measured, and once on everything, into the folder `final` inside; that is returned.
    Several processes (of the `options`) each call this alike and share the work; the first one writes the folder, and
    tells those who watched it: of the measured training, not of the one on everything.
    """
    began = time.perf_counter()
    return_large_blocks()  # before reading, so that what was read can be given back to the system
    peaks, start, options = PhasePeaks(), start or Start(), options or PlanOptions()
    processes = options.processes
    quiet = quiet or not processes.first
    config = start.configure(config)
    with peaks.phase("read"):
        log = source if isinstance(source, Source) else (source or Input(config.data)).read(config.read)
        del source

    def settled() -> dict[str, Any]:
        plan = plan_run(config, log, options, factorises=start.factorises)
        say("\n".join(plan.notes), quiet or not plan.notes)
        return plan.config.model_dump(mode="json")

    config = start.configure(RunConfig.model_validate(processes.decide(settled)))
    named = f"{Path(config.data).stem}-{config.method.replace(':', '-')}-{config.digest()[:8]}"
    run = RunFolder(folder or Path("runs") / named)  # a method of another package has a colon
    if resume:
        processes.decide(lambda: _seal_finished(run))
    processes.decide(lambda: run.check(config, resume))
    work = len(log.train) * config.dim
    with threads_for(work, options.threads), run.locked() if processes.first else nullcontext():
        processes.decide(lambda: run.check(config, resume))  # somebody else may have ended it meanwhile
        if not run.finished:
            log = _with_stored_names(log, run) if resume else log
            prepared = prepare_run(config, log, start, peaks, quiet, processes)
            del log  # the split is all that training needs, and as many bytes again can be given back
            finished = _train(_Job(run, prepared, resume, quiet, (), peaks, began, watched))
            if not config.final:
                return finished
            del finished, prepared
        return _train_final(run, config, start.for_final(), resume, quiet, processes)


@dataclass
class _Job:
    """One training into one folder."""

    run: RunFolder
    prepared: Prepared
    resume: bool
    quiet: bool
    stops: tuple[float, ...]
    peaks: PhasePeaks
    began: float
    watched: Watched | None = None


def _train(job: _Job) -> Finished:
    """Train, measure and record."""
    run, prepared, peaks, quiet, watched = job.run, job.prepared, job.peaks, job.quiet, job.watched
    config, processes = prepared.config, prepared.context.processes
    say("\n".join(prepared.report.lines()), quiet)
    recorder = Recorder(run.events)
    processes.decide(lambda: _begin(job, recorder))
    prepared_seconds = time.perf_counter() - job.began

    def emit(event: dict[str, Any]) -> None:
        if processes.first:
            written = recorder(event)
            if watched is not None:
                watched.event(written)

    loop = Loop(prepared, run.work, emit, peaks, quiet, job.stops)
    table = loop.run(job.resume)
    if processes.first:
        save_table(run.model, table if processes.alone else load_table(loop.last_path))
    found: dict[str, Evaluation] = {}
    if config.open_test and len(prepared.split.test):
        with peaks.phase("evaluate"):
            found = measure_test(table, prepared.test, quiet)
    if processes.first:  # what is left needs whole rows, and little time
        table = table if processes.alone else load_table(run.model)
        record = _record(loop, table, prepared_seconds)
        events = recorder.events()
        record.explorations = sum(event["event"] == "explore" for event in events)
        record.test_by_epoch = {
            event["epoch"]: event["test_curve"] for event in events if "test_curve" in event
        }
        if found:
            parts = prepared.split, prepared.graph, prepared.recommender, table, record
            note_test(Trained(run, config, *parts), found)
        record.memory.peak = peaks.bytes
        record.seconds.total = time.perf_counter() - job.began
        write_figures(run, events, table, prepared.split.train, quiet)
        run.write_record(record)
    processes.wait()
    return Finished(run.path, prepared, table, record if processes.first else run.read_record())


def _begin(job: _Job, recorder: Recorder) -> None:
    """Write down what will be trained on what."""
    job.run.begin(job.prepared.config)
    save_split(job.run.data, job.prepared.split)
    if job.resume:
        recorder.keep(_stored_events(job.run))
    if job.watched is not None:
        job.watched.begin(job.run, recorder.events())


def _seal_finished(run: RunFolder) -> None:
    """Seal what is whole: older versions did so some time after a run's record, and were killed in between."""
    for one in (run, run.final):
        if one.finished and not one.sealed:
            open_run(one.path)
            one.seal()


def _train_final(
    run: RunFolder, config: RunConfig, start: Start, resume: bool, quiet: bool, processes: Processes
) -> Finished:
    """The same training on everything, each phase as long as validation let it be; returns what will be shipped.

    The figures of the record stay those of the measured model: nothing is left to measure this one on.
    """
    began, record = time.perf_counter(), run.read_record()
    say("training once more on everything, for the file that is shipped", quiet)
    stops = tuple(event["share"] for event in run.read_events() if event["event"] == "phase")
    source = Source.whole(load_split(run.data).everything(), "all parts of the log")
    chosen = make_method(config.method, config.method_settings).chosen(run.read_events())
    settings = {
        "final": False,
        "open_test": False,
        "test_epochs": (),
        "base_settings": record.base_settings,
        "method_settings": config.method_settings | chosen,
    }
    again, peaks = config.model_copy(update=settings), PhasePeaks()
    prepared = prepare_run(again, source, start, peaks, quiet, processes, everything=True)
    finished = _train(_Job(run.final, prepared, resume, quiet, stops, peaks, began))
    final = finished.record
    record.final = FinalRecord(
        interactions=len(source.train),
        epochs=final.epochs,
        parameters=final.parameters,
        steps=final.steps,
        seconds=final.seconds,
    )
    if processes.first:
        run.write_record(record)
    return Finished(run.path, finished.prepared, finished.table, record)


def _with_stored_names(source: Source, run: RunFolder) -> Source:
    """The source with the titles that a stopped run had, where it has none now: they are not among the settings."""
    if source.train.item_info is not None or not run.data.exists():
        return source
    train = load_split(run.data).train
    places = train.item_ids.index_of(source.train.item_ids.external())
    if train.item_info is None or (places < 0).any():
        return source
    return source.with_item_info(train.item_info.take(places))


def _stored_events(run: RunFolder) -> int:
    path = run.work / CHECKPOINT
    if not path.exists():
        return 0
    with fitting(path):
        return int(read_arrays(path)[1]["loop"]["events"])


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
        **(loop.stepper.recorded() if loop.stepper is not None else {}),
        "temperatures": prepared.tried.get("temperature"),
        "lengths": prepared.tried.get("length_exponent"),
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
