"""Memory and time of large runs against interactions and against processes, drawn from recorded lines.

    python benchmarks/large_figure.py results/large.jsonl docs/figures/large.png

Lines are those that large.py and shards.py print.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from sparserec.plots import finish_axis, new_figure, save_figure

BATCH = 8000
"""Logs are compared at one batch; lines of other batches are not drawn."""
PHASES = ("read", "init", "train", "evaluate", "export")
COLOURS = {"lightgcn": "C0", "history": "C1"}


def draw(lines: list[dict[str, Any]], path: Path) -> None:
    """Four axes: memory and time of a step, by interactions (one process) and by processes (one log)."""
    logs = [line for line in lines if "users" in line]
    shards = [line for line in lines if "processes" in line]
    figure = new_figure(10.0, 6.4)
    (memory, time), (shared_memory, shared_time) = figure.subplots(2, 2)
    _by_interactions(logs, memory, time)
    _by_processes(shards, shared_memory, shared_time)
    save_figure(figure, path)


def _by_interactions(logs: list[dict[str, Any]], memory: Any, time: Any) -> None:
    graph = sorted(
        (one for one in logs if one["base"] == "lightgcn" and one["batch"] == BATCH),
        key=lambda one: one["interactions"],
    )
    millions = [one["interactions"] / 1e6 for one in graph]
    for phase in PHASES:
        memory.plot(millions, [one["peak_mb"][phase] / 1e3 for one in graph], "o-", label=phase, markersize=4)
    planned = [max(one["planned_mb"].values()) / 1e3 for one in graph]
    memory.plot(millions, planned, "k:", label="plan, largest phase")
    memory.axhline(4.0, color="grey", linewidth=0.8)
    memory.legend(fontsize=7, frameon=False)
    finish_axis(memory, "Peak memory by phase, LightGCN", "interactions, millions", "GB")
    time.plot(millions, [one["ns_per_edge"] for one in graph], "o-", color=COLOURS["lightgcn"])
    time.set_ylim(bottom=0)
    finish_axis(time, "A step, by edge and direction", "interactions, millions", "processor ns")
    for axis in (memory, time):
        axis.set_xscale("log")
        axis.set_xticks(millions, [f"{size:.0f}" for size in millions])
        axis.minorticks_off()


def _by_processes(shards: list[dict[str, Any]], memory: Any, time: Any) -> None:
    for base, colour in COLOURS.items():
        lines = sorted((one for one in shards if one["base"] == base), key=lambda one: one["processes"])
        counts = [one["processes"] for one in lines]
        memory.plot(
            counts, [one["peak_mb"] / 1e3 for one in lines], "o-", color=colour, label=f"{base}, resident"
        )
        shared = [sum(one["ledger_mb"].values()) - one["ledger_mb"]["graph"] for one in lines]
        memory.plot(
            counts, [size / 1e3 for size in shared], "o--", color=colour, label=f"{base}, table and step"
        )
        two_cores = [one for one in lines if one["processes"] * one["threads"] == 2]
        names = [f"{one['processes']} x {one['threads']}" for one in two_cores]
        time.plot(names, [one["step_seconds"] for one in two_cores], "o-", color=colour, label=base)
    memory.set_xticks(sorted({one["processes"] for one in shards}))
    memory.set_ylim(bottom=0)
    memory.legend(fontsize=7, frameon=False)
    finish_axis(memory, "Memory of one process, Gowalla", "processes", "GB")
    time.set_ylim(bottom=0)
    time.legend(fontsize=7, frameon=False)
    finish_axis(time, "A step on two cores, Gowalla", "processes x threads", "seconds")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("lines", type=Path)
    parser.add_argument("figure", type=Path)
    arguments = parser.parse_args()
    draw([json.loads(line) for line in arguments.lines.read_text().splitlines()], arguments.figure)


if __name__ == "__main__":
    main()
