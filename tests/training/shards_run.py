"""Short trainings on the city, by one process or by one of several; what they leave is compared by test_shards.py.

python shards_run.py FOLDER [CASE..]     RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT as torchrun sets them
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sparserec.data import Source, read_source, resolve
from sparserec.distributed import Processes, started_processes
from sparserec.methods import Phase, StepInfo
from sparserec.methods.magnitude import pruned
from sparserec.methods.sparserec import cut_to
from sparserec.process import use_threads
from sparserec.table import DenseTable, SparseTable
from sparserec.training import RunConfig, prepare_run, save_table

UNIFORM = {"init": "uniform"}
NMF = {"init": "nmf", "nmf_iterations": 3}
HISTORY = {"temperature": 0.2, "history_dropout": 0.1}


@dataclass(frozen=True)
class Case:
    """A base and a method, as they are set."""

    base: str
    method: str = "sparserec"
    base_settings: dict[str, Any] = field(default_factory=dict)
    method_settings: dict[str, Any] = field(default_factory=dict)
    dim: int = 128
    steps: int = 10
    places: int | None = None
    """Only so many of the city's places: short trainings that choose a setting rank all of them at every step."""


CASES = {
    "lightgcn": Case("lightgcn", method_settings=UNIFORM, steps=30),
    "mf": Case("mf", method_settings=UNIFORM, steps=30),
    "mgdcf": Case("mgdcf", base_settings={"negatives": 40, "layers": 2}, method_settings=UNIFORM, steps=30),
    "xsimgcl": Case("xsimgcl", base_settings={"layers": 2}, method_settings=UNIFORM, steps=30),
    "mgdcf, all outputs": Case(
        "mgdcf",
        "dense",
        base_settings={"negatives": 8, "decay_rows": "all", "edge_dropout": 0.2, "layers": 1},
    ),
    "mgdcf, bpr": Case("mgdcf", base_settings={"loss": "bpr", "layers": 1}, method_settings=UNIFORM),
    "five blocks": Case("mf", method_settings=UNIFORM, dim=144),
    "few candidates": Case("mf", method_settings={**UNIFORM, "keep_value": True, "candidate_ratio": 0.004}),
    "static": Case("mf", "static", method_settings=NMF),
    "dense": Case("mf", "dense"),
    "rigl": Case("mf", "rigl"),
    "set": Case("mf", "set"),
    "gse": Case("mf", "gse"),
    "history": Case("history", base_settings=HISTORY, method_settings=UNIFORM, steps=30),
    "history, free rows": Case(
        "history", base_settings=HISTORY, method_settings={**NMF, "rows": "free", "fill_share": 1.0}, steps=30
    ),
    "history, a sample of items": Case(
        "history", base_settings={**HISTORY, "largest_softmax": 20_000}, method_settings=UNIFORM
    ),
    "history, static, a chosen temperature": Case("history", "static", method_settings=UNIFORM, places=100),
    "history, taper": Case("history", "taper", base_settings=HISTORY, method_settings={"exploring": UNIFORM}),
    "history, dense": Case("history", "dense", base_settings=HISTORY, steps=30),
    "history, dense, a sample of items": Case(
        "history", "dense", base_settings={**HISTORY, "largest_softmax": 20_000}
    ),
}
"""Every base for 30 steps, and every method whose table may be shared; what is said of tables is quickest said without
a graph.
"""


def train_briefly(case: Case, source: Source, folder: Path, processes: Processes) -> dict[str, Any]:
    """Losses, what explorations did and scores of a few steps; the table is saved, and so is a pruned one."""
    config = RunConfig.model_validate(
        {
            "base": case.base,
            "base_settings": case.base_settings,
            "method": case.method,
            "method_settings": case.method_settings,
            "dim": case.dim,
            "recipe": {"batch_size": 512, "explorations": 3, "weight_decay": 1e-4},
        }
    )
    if case.places is not None:
        pairs = source.train.select(source.train.items < case.places)
        source = read_source(list(zip(pairs.users.tolist(), pairs.items.tolist())))
    prepared = prepare_run(config, source, processes=processes)
    context, method, events = prepared.context, prepared.method, []
    object.__setattr__(context, "record", lambda event, **values: events.append([event, values]))
    phase = Phase("train", 1, steps=case.steps)
    table = method.start(context, phase, None)
    stepper, losses = prepared.stepper(table), []
    for step in range(1, case.steps + 1):
        losses.append(stepper.run(prepared.sampler.batch(0, step - 1), step, 0.01))
        now = StepInfo(phase, step, 1, prepared.sampler.steps_per_epoch, 0.01)
        method.after_step(context, table, now)
    folder.mkdir(parents=True, exist_ok=True)
    save_table(folder / "table.safetensors", table)
    found = {"losses": losses, "events": events, "parameters": table.parameters()}
    found["counted"] = table.counted_numbers()
    if case.steps == 30:
        found["valid"] = prepared.validate(table).metrics
        found["int4"] = prepared.test(table.quantised(4)).metrics
    if isinstance(table, DenseTable) and prepared.recommender.user_rows:
        save_table(folder / "pruned.safetensors", pruned(table, 70_000, "tables", 2))
    elif isinstance(table, SparseTable) and case.method == "sparserec":
        cut_to(table, table.parameters() * 3 // 5, case.steps)
        save_table(folder / "pruned.safetensors", table)
    return found


def run_cases(folder: Path, names: list[str], processes: Processes) -> None:
    """These cases, and what they found as JSON."""
    source = resolve("world")
    found = {name: train_briefly(CASES[name], source, folder / name, processes) for name in names}
    if processes.first:
        (folder / "found.json").write_text(json.dumps(found))


if __name__ == "__main__":
    use_threads(1)
    with started_processes() as started:
        run_cases(Path(sys.argv[1]), sys.argv[2:] or list(CASES), started)
