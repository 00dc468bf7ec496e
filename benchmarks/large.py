"""A large log through every phase of a run: read, split, factorise, order, build, some steps, an exploration, ranking
for a sample of users, and encoding for a file. Prints a JSON line: seconds and peak memory of each phase beside the
plan's.

    python benchmarks/generate.py /tmp/log --users 1000000 --items 300000 --interactions 42000000
    python benchmarks/large.py /tmp/log --dim 64 --steps 3

Phases are those of a run's record; `epoch_hours` is what all steps of an epoch would take at this pace.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sparserec.data import resolve
from sparserec.memory import PhasePeaks, return_large_blocks
from sparserec.methods import Phase, StepInfo
from sparserec.planning import Sizes, estimate_run
from sparserec.process import use_threads
from sparserec.table import total
from sparserec.training import Prepared, RunConfig, prepare_run
from sparserec.vectors import DEFAULT, encode, evaluate_part, make_vectors, propagate_all

USERS = 2000


class Clock:
    """Seconds of wall time and of processor time, and peak memory, by phase."""

    def __init__(self) -> None:
        self.peaks, self.seconds, self.processor = PhasePeaks(), {}, {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        began, worked = time.perf_counter(), time.process_time()
        with self.peaks.phase(name):
            yield
        self.seconds[name] = round(time.perf_counter() - began, 2)
        self.processor[name] = round(time.process_time() - worked, 2)
        print(
            f"{name}: {self.seconds[name]} s, {self.peaks.bytes[name] / 1e6:.0f} MB",
            file=sys.stderr,
            flush=True,
        )


def train(prepared: Prepared, steps: int) -> tuple[Any, dict[str, float]]:
    """Some steps with an exploration among them; the table, and what a step took."""
    phase, spent, worked, explored = Phase("train", 1, steps=2 * steps), [], [], 0.0
    table = prepared.method.start(prepared.context, phase, None)
    stepper, per_epoch = prepared.stepper(table), prepared.sampler.steps_per_epoch
    for step in range(1, steps + 2):
        began, busy = time.perf_counter(), time.process_time()
        stepper.run(prepared.sampler.batch(0, step - 1), step, 0.01)
        spent.append(time.perf_counter() - began)
        worked.append(time.process_time() - busy)
        prepared.method.after_step(prepared.context, table, StepInfo(phase, step, 1, per_epoch, 0.01))
        explored = max(explored, time.perf_counter() - began - spent[-1])
    step = statistics.median(spent[1:])
    return table, {
        "step_seconds": round(step, 3),
        "step_processor_seconds": round(statistics.median(worked[1:]), 3),
        "explore_seconds": round(explored, 3),
        "epoch_hours": round(step * per_epoch / 3600, 2),
        "batch": prepared.config.recipe.batch_size,
    }


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """All phases."""
    return_large_blocks()
    clock = Clock()
    method_settings = {"init": arguments.init, **({"nmf_iterations": 3} if arguments.init == "nmf" else {})}
    config = RunConfig.model_validate(
        {
            "method_settings": method_settings,
            "dim": arguments.dim,
            "density": arguments.density,
            "recipe": {"batch_size": arguments.batch, "explorations": 1},
            "held_out_users": USERS,
        }
    )
    with clock.phase("read"):
        source = resolve(arguments.data)
    sizes = Sizes.of_source(source, config.protocol, USERS)
    plan = estimate_run(config, sizes, timed=False)
    handed_over = [source]
    del source
    with clock.phase("init"):
        prepared = prepare_run(config, handed_over.pop(), peaks=clock.peaks)
    with clock.phase("train"):
        table, steps = train(prepared, arguments.steps)
    split = prepared.split
    with clock.phase("evaluate"):
        vectors = propagate_all(prepared.recommender, prepared.graph, table)
        users, items = vectors[: split.n_users], vectors[split.n_users :]
        found = evaluate_part(users, items, table.shape, split.train, split.valid, (), (20,))
        del vectors, users, items
    with clock.phase("export"):
        encoded = encode(make_vectors(prepared.recommender, prepared.graph, table), DEFAULT)
    nmf = prepared.context.factors
    return {
        "users": split.n_users,
        "items": split.n_items,
        "interactions": sizes.interactions,
        "dim": arguments.dim,
        "density": arguments.density,
        "parameters": table.parameters(),
        "seconds": clock.seconds,
        "processor_seconds": clock.processor,
        "peak_mb": {name: round(size / 1e6) for name, size in clock.peaks.bytes.items()},
        "nmf": None
        if nmf is None
        else {"seconds": nmf.info.seconds, "peak_mb": round(nmf.info.peak_bytes / 1e6)},
        "planned_mb": {name: round(total(ledger) / 1e6) for name, ledger in plan.memory.items()},
        **steps,
        "ns_per_edge": round(1e9 * steps["step_processor_seconds"] / (2 * len(split.train)), 2),
        "ndcg@20": round(found.metrics["ndcg@20"], 4),
        "encoded_mb": round(encoded.nbytes / 1e6, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data")
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--density", type=float, default=0.125)
    parser.add_argument("--batch", type=int, default=8000)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--init", choices=("nmf", "uniform"), default="nmf")
    parser.add_argument("--threads", type=int, default=None)
    arguments = parser.parse_args()
    use_threads(arguments.threads)
    print(json.dumps(run(arguments)))


if __name__ == "__main__":
    main()
