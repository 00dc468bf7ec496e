"""One run from configuration to record: prepare, train, open the test set once, write everything down."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sparserec.data import Source
from sparserec.errors import RunError
from sparserec.evaluation import Evaluation
from sparserec.files import replacing, write_text
from sparserec.memory import PeakMeter, peak_of, resident_bytes, return_large_blocks
from sparserec.shipping import default_export_quality, make_vectors
from sparserec.table import Table, total
from sparserec.training.config import RunConfig
from sparserec.training.configure import differences
from sparserec.training.dense_run import DenseRun
from sparserec.training.figures import write_figures
from sparserec.training.loop import CHECKPOINT, Loop
from sparserec.training.mask_stats import mask_stats
from sparserec.training.prepare import MAIN_METRIC, Prepared, prepare
from sparserec.training.records import Recorder, environment, say
from sparserec.training.store import save_split
from sparserec.training.tables import save_table
from sparserec.training.warm_start import WarmStart

PRECISIONS = {"float": 32, "int8": 8, "int4": 4}


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


def open_test(
    prepared: Prepared, table: Table, folder: Path, peaks: dict[str, int], baseline: int, quiet: bool
) -> dict[str, dict[str, float]]:
    """Measure the finished table on the test part, as float, int8 and int4; per-user results are kept."""
    if len(prepared.split.test) == 0 or not prepared.config.open_test:
        return {}
    results: dict[str, dict[str, float]] = {}
    per_user: dict[str, np.ndarray] = {}
    with peak_of(peaks, "evaluate", baseline):
        for name, bits in PRECISIONS.items():
            say(f"evaluating on the test set ({name})", quiet)
            found: Evaluation = prepared.test(table if bits == 32 else table.quantised(bits))
            results[name] = found.metrics
            per_user |= {f"{name}.{metric}": values for metric, values in found.per_user.items()}
            per_user["users"] = found.users
    with replacing(folder / "per_user.npz") as temporary, temporary.open("wb") as file:
        np.savez(file, **per_user)  # type: ignore[arg-type]
    return results


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
        dense_run=dense_run,
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
        "cost": loop.state.steps / (config.recipe.epochs * prepared.sampler.steps_per_epoch),
        "epochs": [asdict(result) for result in loop.state.done],
        "nmf": asdict(factors.info) if factors is not None else None,
        "mask": mask_stats(table, prepared.context.frequencies()),
        "test_curve": bool(config.test_epochs),
        "test_opened": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()) if config.open_test else None,
    }
