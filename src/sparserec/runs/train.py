"""Read, plan, train, record: the one way from data to a run, its test set opened once and everything written down."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from sparserec.data import Source, read_item_info, read_source, resolve
from sparserec.errors import RunError
from sparserec.evaluation import Evaluation
from sparserec.files import write_text
from sparserec.memory import PeakMeter, peak_of, resident_bytes, return_large_blocks
from sparserec.planning.plan import Wishes, plan_run
from sparserec.progress import say
from sparserec.runs.dense_run import DenseRun
from sparserec.runs.figures import write_figures
from sparserec.runs.measure import open_test
from sparserec.runs.record import Recorder, environment
from sparserec.runs.stored_split import save_split
from sparserec.runs.warm_start import WarmStart
from sparserec.table import Table, total
from sparserec.training.checkpoint import save_table
from sparserec.training.config import RunConfig
from sparserec.training.configure import differences
from sparserec.training.loop import CHECKPOINT, Loop
from sparserec.training.mask_stats import mask_stats
from sparserec.training.prepare import MAIN_METRIC, Prepared, prepare
from sparserec.vectors import default_export_quality, make_vectors


@dataclass
class Finished:
    """A trained run, still in memory."""

    folder: Path
    prepared: Prepared
    table: Table
    record: dict[str, Any]


def train_run(
    config: RunConfig,
    folder: Path,
    source: Source | None = None,
    data_dir: str | None = None,
    resume: bool = False,
    quiet: bool = True,
    warm: WarmStart | None = None,
    peaks: dict[str, int] | None = None,
    baseline: int | None = None,
    dense_run: DenseRun | None = None,
) -> Finished:
    """Train into a run folder. With `resume` a stopped run continues exactly where it was.

    A `dense_run` takes the place of a method's first training. A caller that has read `source` itself hands on what
    it measured: `peaks` and the resident bytes before reading.
    """
    began = time.perf_counter()
    return_large_blocks()
    baseline = resident_bytes() if baseline is None else baseline
    peaks = {} if peaks is None else peaks
    folder = Path(folder)
    config = config if warm is None else warm.configure(config)
    if dense_run is not None:
        dense_run.check_config(config)
    _open_folder(folder, config, resume)
    prepared = prepare(config, source, data_dir, peaks, baseline, quiet, warm)
    if dense_run is not None:
        dense_run.check_split(prepared.split.hash)
    del source  # the split is all that training needs: as many bytes again are given back
    say("\n".join(prepared.report.lines()), quiet)
    save_split(folder / "data.safetensors", prepared.split)
    prepared_seconds = time.perf_counter() - began
    recorder = Recorder(folder / "events.jsonl")
    meter = PeakMeter()

    @contextmanager
    def evaluating() -> Iterator[None]:
        with meter.paused(), peak_of(peaks, "evaluate", baseline):
            yield

    loop = _loop(prepared, folder, recorder, evaluating, quiet, dense_run)
    recorder.keep(_stored_events(folder) if resume else 0)
    with meter:
        table = loop.run(resume)
    peaks["train"] = max(meter.peak - baseline, dense_run.peak if dense_run is not None else 0)
    save_table(folder / "model.safetensors", table)
    record = _record(prepared, table, loop, peaks, prepared_seconds)
    record["test"] = open_test(prepared, table, folder, peaks, baseline, quiet)
    record["export"] = _default_export(prepared, table)
    record["seconds"]["total"] = time.perf_counter() - began
    write_text(folder / "record.json", json.dumps(record, indent=1))
    write_figures(folder, table, prepared.split.train)
    return Finished(folder, prepared, table, record)


def _default_export(prepared: Prepared, table: Table) -> dict[str, Any] | None:
    """Quality of the file that `export` writes by default, so that reported numbers are shipped numbers."""
    if len(prepared.split.test) == 0 or not prepared.config.open_test:
        return None
    vectors = make_vectors(prepared.recommender, prepared.graph, table)
    return default_export_quality(vectors, prepared.split)


def _open_folder(folder: Path, config: RunConfig, resume: bool) -> None:
    stored = folder / "config.json"
    if stored.exists():
        before = RunConfig.parse(json.loads(stored.read_text(encoding="utf-8")), str(stored))
        if before.digest() != config.digest():
            raise RunError(
                f"{folder}: holds a run with other settings ({differences(before, config)}); give the same ones to "
                "continue it, or choose another folder with --run"
            )
        if (folder / "record.json").exists():
            raise RunError(f"{folder}: this run is finished; its results are in {folder / 'record.json'}")
        if not resume:
            raise RunError(
                f"{folder}: holds an unfinished run; continue it with --resume or delete the folder"
            )
    elif folder.exists() and any(folder.iterdir()):
        raise RunError(f"{folder}: exists and is not a run folder; choose another one")
    write_text(stored, json.dumps(config.model_dump(mode="json"), indent=1))
    write_text(folder / "environment.json", json.dumps(environment(), indent=1))


def _stored_events(folder: Path) -> int:
    from sparserec.training.checkpoint import read_arrays

    path = folder / "work" / CHECKPOINT
    return int(read_arrays(path)[1]["loop"]["events"]) if path.exists() else 0


def _loop(
    prepared: Prepared,
    folder: Path,
    recorder: Recorder,
    evaluating: Callable[[], AbstractContextManager[None]],
    quiet: bool,
    dense_run: DenseRun | None = None,
) -> Loop:
    config = prepared.config

    def validate(table: Table, also_at: tuple[int, ...] = ()) -> Evaluation:
        with evaluating():
            return prepared.validate(table, also_at)

    def test_curve(table: Table, epoch: int) -> dict[str, Any]:
        if epoch not in config.test_epochs:
            return {}
        with evaluating():
            return {"test_curve": prepared.test(table).metrics}

    return Loop(
        method=prepared.method,
        context=prepared.context,
        recipe=config.recipe,
        sampler=prepared.sampler,
        make_stepper=prepared.stepper,
        validate=validate if len(prepared.split.valid) else None,
        emit=recorder,
        folder=folder / "work",
        checkpoint_every=config.checkpoint_every,
        identity={"config": config.digest(), "threads": environment()["threads"]},
        test_curve=test_curve if config.test_epochs else None,
        quiet=quiet,
        dense_run=None if dense_run is None else dense_run.training,
        score_name=MAIN_METRIC if 20 in config.ks else f"ndcg@{max(config.ks)}",
    )


def _record(
    prepared: Prepared, table: Table, loop: Loop, peaks: dict[str, int], prepared_seconds: float
) -> dict[str, Any]:
    config, split, factors = prepared.config, prepared.split, prepared.context.factors
    return {
        "config": config.model_dump(mode="json"),
        "base_settings": prepared.recommender.settings.model_dump(mode="json"),
        "method_settings": prepared.method.settings.model_dump(mode="json"),
        "digest": config.digest(),
        "environment": environment(),
        "split": {"protocol": split.protocol, "seed": split.seed, "hash": split.hash},
        "data": prepared.report.as_dict(),
        "parameters": table.parameters(),
        "dim": table.shape.dim,
        "bytes": {"int8": table.stored_bytes(8), "int4": table.stored_bytes(4)},
        "memory": {
            "formula": 4 * max(result.counted for result in loop.state.done),  # float32
            "ledger": max((result.ledger for result in loop.state.done), key=total),
            "peak": peaks,
        },
        "seconds": {"prepare": prepared_seconds, "train": loop.state.seconds},
        "steps": loop.state.steps,
        "cost": loop.state.steps / (prepared.context.epochs * prepared.sampler.steps_per_epoch),
        "epochs": [asdict(result) for result in loop.state.done],
        "nmf": asdict(factors.info) if factors is not None else None,
        "mask": mask_stats(table, prepared.context.frequencies()),
        "test_curve": bool(config.test_epochs),
        "test_opened": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()) if config.open_test else None,
    }


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


def plan_and_train(
    config: RunConfig,
    given: Input,
    wishes: Wishes,
    folder: Path | None = None,
    resume: bool = False,
    quiet: bool = False,
    warm: WarmStart | None = None,
    dense_run: DenseRun | None = None,
) -> Finished:
    """Read the data, settle what depends on its size, train into `folder` or one named after the configuration."""
    return_large_blocks()  # before reading, so that what was read can be given back to the system
    peaks: dict[str, int] = {}
    baseline = resident_bytes()
    with peak_of(peaks, "read", baseline):
        source = given.read(config.read)
    plan = plan_run(config, source, wishes, factorises=warm is None)
    say("\n".join(plan.said), quiet or not plan.said)
    config = plan.config if warm is None else warm.configure(plan.config)
    handed_over = [source]
    del source  # training gives the source back once it is split, which a name here would prevent
    return train_run(
        config, folder or _folder(config), handed_over.pop(), resume=resume, quiet=quiet, warm=warm, peaks=peaks,
        baseline=baseline, dense_run=dense_run,
    )  # fmt: skip


def _folder(config: RunConfig) -> Path:
    return Path("runs") / f"{Path(config.data).stem}-{config.method}-{config.digest()[:8]}"
