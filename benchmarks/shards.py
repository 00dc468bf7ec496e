"""Steps of one or several processes: seconds, resident memory, and bytes sent against the formula. Prints a JSON line.

    python benchmarks/shards.py world --threads 2
    torchrun --nproc-per-node 2 benchmarks/shards.py world --threads 1
    python benchmarks/shards.py world --rounds 3 --compare 1x2 2x1

The data is whatever `sparserec train` takes. `sent` is what a process hands to the network in a step, `expected` the
formula of docs/guide/more-than-one-machine.md, `loopback` what the kernel counts on `lo` over all processes of one
machine (Linux), headers and whatever else uses it included. Processor time is of the first process: beside other work
on the machine it says more than seconds do. `--compare` holds the benchmark lock and starts numbers of processes and
threads in turn, a line for each: of every kind the round with the fastest step.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

from measure import benchmark_lock, origin
from sparserec.data import resolve
from sparserec.distributed import Processes, started_processes
from sparserec.methods import Phase
from sparserec.process import PeakMeter, resident_bytes, return_large_blocks, use_threads
from sparserec.recommenders import ItemBase
from sparserec.table import holders
from sparserec.training import Prepared, RunConfig, prepare_run

LOOPBACK = Path("/sys/class/net/lo/statistics/tx_bytes")
WARM_UP = 2


def expected_bytes(prepared: Prepared, rows: int) -> int:
    """What a process sends in a step by the formula: scores of two pairs per triple and block, whole rows, or what
    every chunk of items adds to the users of base history.
    """
    shape, base, batch = prepared.context.shape(), prepared.recommender, prepared.config.recipe.batch_size
    others, held = holders(shape).count - 1, -(-shape.n_parts // holders(shape).count)
    if isinstance(base, ItemBase):
        users = base.users_per_batch(prepared.split.n_users)
        return others * held * (2 * 4 * shape.dim * users + 12 * users + 8)
    if getattr(base, "whole_rows", False):
        return others * 4 * len(base.taps) * rows * held * shape.width
    return others * held * (2 * 4 * batch + 8)  # and a part of the penalty


def measure(arguments: argparse.Namespace, processes: Processes) -> dict[str, object]:
    """Prepare as a run does, train some steps, and say what they took."""
    return_large_blocks()
    before = resident_bytes()
    config = RunConfig.model_validate(
        {
            "base": arguments.base,
            "base_settings": {"temperature": 0.2} if arguments.base == "history" else {},
            "method": arguments.method,
            "method_settings": {"init": "uniform"} if arguments.method == "sparserec" else {},
            "dim": arguments.dim,
            "density": arguments.density,
            "recipe": {"batch_size": arguments.batch},
        }
    )
    prepared = prepare_run(config, resolve(arguments.data, arguments.data_dir), processes=processes)
    table = prepared.method.start(prepared.context, Phase("train", 1), None)
    stepper, seconds, busy = prepared.stepper(table), [], []
    with PeakMeter() as meter:
        for step in range(arguments.steps + WARM_UP):
            if step == WARM_UP:
                processes.wait()
                sent, loopback = processes.sent, _loopback()
            began, worked = time.perf_counter(), time.process_time()
            stepper.run(prepared.sampler.batch(0, step), step + 1, 0.01)
            seconds.append(time.perf_counter() - began)
            busy.append(time.process_time() - worked)
        processes.wait()
    rows = getattr(stepper, "largest_rows", 0)
    return {
        "processes": processes.count,
        "threads": arguments.threads,
        "base": arguments.base,
        "method": arguments.method,
        "nodes": prepared.graph.n_nodes,
        "interactions": len(prepared.split.train),
        "step_seconds": round(statistics.median(seconds[WARM_UP:]), 4),
        "processor_seconds": round(statistics.median(busy[WARM_UP:]), 4),
        "sent": (processes.sent - sent) // arguments.steps,
        "expected": expected_bytes(prepared, rows) if processes.count > 1 else 0,
        "loopback": (_loopback() - loopback) // arguments.steps,
        "peak_mb": round((meter.peak - before) / 1e6, 1),
        "ledger_mb": {role: round(size / 1e6, 2) for role, size in stepper.ledger().items()},
        **origin(),
    }


def compare(kinds: list[str], rounds: int, rest: list[str]) -> list[str]:
    """The line of the fastest round of every kind, `2x1` being two processes of one thread each."""
    found: dict[str, list[str]] = {kind: [] for kind in kinds}
    with benchmark_lock(patience_seconds=600.0):
        for _ in range(rounds):
            for kind in kinds:
                processes, threads = kind.split("x")
                several = ["-m", "torch.distributed.run", "--nproc-per-node", processes]
                command = [sys.executable, *(several if processes != "1" else []), __file__, *rest]
                ended = subprocess.run(
                    [*command, "--threads", threads], stdout=subprocess.PIPE, text=True, check=True
                )
                found[kind].append(ended.stdout.splitlines()[-1])
    return [min(lines, key=lambda line: json.loads(line)["step_seconds"]) for lines in found.values()]


def _loopback() -> int:
    return int(LOOPBACK.read_text()) if LOOPBACK.exists() else 0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="?", default="world")
    parser.add_argument("--data-dir")
    parser.add_argument("--base", default="lightgcn")
    parser.add_argument("--method", default="sparserec")
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--density", type=float, default=0.125)
    parser.add_argument("--batch", type=int, default=8000)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--compare", nargs="+", metavar="PROCESSESxTHREADS", help="after all other options")
    arguments = parser.parse_args()
    if arguments.compare:
        given = sys.argv[1:]
        kept = given[: given.index("--compare")]
        print("\n".join(compare(arguments.compare, arguments.rounds, kept)))
        return
    use_threads(arguments.threads)
    with started_processes() as processes:
        found = measure(arguments, processes)
    if processes.first:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
