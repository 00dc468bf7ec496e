"""A large log through every phase of a run: read, split, factorise, order, build, some steps, an exploration, ranking
for a sample of users, and encoding for a file. Prints a JSON line: seconds and peak memory of each phase beside the
plan's.

    python benchmarks/generate.py /tmp/log --users 1000000 --items 300000 --interactions 42000000
    python benchmarks/large.py /tmp/log --dim 64 --steps 3
    python benchmarks/large.py /tmp/log --base history --softmax 8000000 --steps 20 --epoch-minutes 10

Phases are those of a run's record; `epoch_hours` is what all steps of an epoch would take at this pace. With
`--epoch-minutes` an epoch that promises to take no longer is trained to its end, and its exploration is in its middle.
With `--alone` the benchmark lock is held while steps are timed, and they have so many threads.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from measure import benchmark_lock, origin
from sparserec.data import resolve
from sparserec.encodings import DEFAULT, encode
from sparserec.methods import Phase, StepInfo
from sparserec.planning import Sizes, estimate_run
from sparserec.process import PhasePeaks, return_large_blocks, use_threads
from sparserec.recommenders import ItemBase
from sparserec.table import total
from sparserec.training import Prepared, RunConfig, prepare_run
from sparserec.vectors import evaluate_part, make_vectors, propagate_all

USERS = 2000
PATIENCE_SECONDS, SETTLE_SECONDS = 900.0, 15.0
"""How long the lock is waited for, and how long a training of the queue may take to stop for it."""


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


def train(prepared: Prepared, steps: int, epoch_minutes: float) -> tuple[Any, dict[str, float | None]]:
    """Some steps with an exploration among them, or an epoch that is short enough; the table, and what a step took."""
    per_epoch, spent, worked, explored = prepared.sampler.steps_per_epoch, [], [], 0.0
    phase = Phase("train", 1, steps=per_epoch if epoch_minutes else 2 * steps)
    table = prepared.method.start(prepared.context, phase, None)
    stepper, all_began = prepared.stepper(table), time.perf_counter()
    for step in range(1, per_epoch + 1):
        began, busy = time.perf_counter(), time.process_time()
        stepper.run(prepared.sampler.batch(0, step - 1), step, 0.01)
        spent.append(time.perf_counter() - began)
        worked.append(time.process_time() - busy)
        prepared.method.after_step(prepared.context, table, StepInfo(phase, step, 1, per_epoch, 0.01))
        explored = max(explored, time.perf_counter() - began - spent[-1])
        if step == steps + 1 and statistics.median(spent[1:]) * per_epoch > 60 * epoch_minutes:
            break
    one, busy = statistics.median(spent[1:]), statistics.median(worked[1:])
    whole = {"epoch_seconds": round(time.perf_counter() - all_began, 1)} if len(spent) == per_epoch else {}
    base, edges = prepared.recommender, 2 * len(prepared.split.train)
    batch, history = prepared.config.recipe.batch_size, isinstance(base, ItemBase)
    if isinstance(base, ItemBase):
        batch = base.users_per_batch(prepared.split.n_users)
    return table, {
        "steps": len(spent),
        "step_seconds": round(one, 3),
        "step_processor_seconds": round(busy, 3),
        "explore_seconds": round(explored, 3),
        "epoch_hours": round(one * per_epoch / 3600, 2),
        **whole,
        "batch": batch,
        "ns_per_edge": None if history else round(1e9 * busy / edges, 2),
        "wall_ns_per_edge": None if history else round(1e9 * one / edges, 2),
    }


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """All phases."""
    return_large_blocks()
    clock = Clock()
    method_settings = {"init": arguments.init, **({"nmf_iterations": 3} if arguments.init == "nmf" else {})}
    of_history = {"temperature": 0.2, "largest_softmax": arguments.softmax}
    config = RunConfig.model_validate(
        {
            "base": arguments.base,
            "base_settings": of_history if arguments.base == "history" else {},
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
    with benchmark_lock(patience_seconds=PATIENCE_SECONDS) if arguments.alone else nullcontext():
        time.sleep(SETTLE_SECONDS if arguments.alone else 0.0)
        threads = use_threads(arguments.alone or arguments.threads)
        with clock.phase("train"):
            table, steps = train(prepared, arguments.steps, arguments.epoch_minutes)
    use_threads(arguments.threads)
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
        "base": arguments.base,
        "threads": use_threads(None),
        "step_threads": threads,
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
        "ndcg@20": round(found.metrics["ndcg@20"], 4),
        "encoded_mb": round(encoded.nbytes / 1e6, 2),
        **origin(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data")
    parser.add_argument("--base", default="lightgcn")
    parser.add_argument(
        "--softmax", type=int, default=8_000_000, help="items times users of a step of history"
    )
    parser.add_argument("--epoch-minutes", type=float, default=0.0)
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--density", type=float, default=0.125)
    parser.add_argument("--batch", type=int, default=8000)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--init", choices=("nmf", "uniform"), default="nmf")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--alone", type=int, default=0, metavar="THREADS")
    arguments = parser.parse_args()
    use_threads(arguments.threads)
    print(json.dumps(run(arguments)))


if __name__ == "__main__":
    main()
