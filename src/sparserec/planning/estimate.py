"""What a run will take on this machine, before it is started: memory by phase and role, and time."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any

from sparserec.errors import SettingError
from sparserec.methods import make_method
from sparserec.planning.memory_plan import Sizes, plan_memory, plan_phases
from sparserec.planning.timing import StandIn, StepTimes, make_stand_in, plan_seconds, step_times
from sparserec.recommenders import Recommender, make_recommender
from sparserec.table import Ledger, total
from sparserec.training import RunConfig
from sparserec.units import show_bytes, show_seconds

FINAL = "final"
"""The second training of a final run, among the seconds; its memory is in the phases of both."""
MEMORY_ERROR = 0.25
TIME_FACTOR = 2.0
"""How far off an estimate may be; measured runs are in docs/guide/budgets.md."""


@dataclass(frozen=True)
class Estimate:
    """Memory and time of one run."""

    base: str
    method: str
    dim: int
    density: float
    sizes: Sizes
    memory: dict[str, Ledger]
    """Bytes above an idle process, per phase and role."""
    seconds: dict[str, float] | None
    nmf_iterations: int
    notes: tuple[str, ...] = ()
    processes: int = 1
    """Who share the training; memory is what one of them needs."""

    @property
    def peak(self) -> int:
        """Bytes of the largest phase."""
        return max(total(ledger) for ledger in self.memory.values())

    @property
    def peak_phase(self) -> str:
        return max(self.memory, key=lambda phase: total(self.memory[phase]))

    @property
    def all_seconds(self) -> float | None:
        return None if self.seconds is None else sum(self.seconds.values())

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "base": self.base,
            "method": self.method,
            "dim": self.dim,
            "density": self.density,
            "sizes": asdict(self.sizes),
            "memory": {phase: {**ledger, "total": total(ledger)} for phase, ledger in self.memory.items()},
            "peak": self.peak,
            "peak_phase": self.peak_phase,
            "memory_error": MEMORY_ERROR,
            "processes": self.processes,
            "seconds": self.seconds,
            "time_factor": TIME_FACTOR,
            "nmf_iterations": self.nmf_iterations,
            "notes": list(self.notes),
        }

    def lines(self) -> list[str]:
        """The estimate as lines to print."""
        lines = [f"{self.method} on {self.base}, {self.dim} columns, density {self.density:g}"]
        for phase, ledger in self.memory.items():
            largest = sorted(ledger, key=lambda role: -ledger[role])[:3]
            parts = ", ".join(f"{role} {show_bytes(ledger[role])}" for role in largest)
            taken = (self.seconds or {}).get(phase)
            about = f"{show_seconds(taken):>8}" if taken else " " * 8
            lines.append(f"  {phase:9}{show_bytes(total(ledger)):>9} {about}   {parts}")
        if self.seconds and FINAL in self.seconds:
            lines.append(
                f"  {FINAL:9}{show_seconds(self.seconds[FINAL]):>18}   all of it once more, on everything"
            )
        each = "" if self.processes == 1 else f" for each of {self.processes} processes"
        lines.append(f"  memory: {show_bytes(self.peak)} above an idle process{each}, give or take a quarter")
        if self.all_seconds is not None:
            lines.append(
                f"  time: about {show_seconds(self.all_seconds)} for all epochs, right within a factor of two; "
                "early stopping may end it sooner"
            )
        return lines + [f"  note: {note}" for note in self.notes]


def estimate_run(
    config: RunConfig,
    sizes: Sizes,
    timed: bool = True,
    stand_in: StandIn | None = None,
    factorises: bool = True,
    processes: int = 1,
) -> Estimate:
    """Memory, and with `timed` the time, of one run. Nothing of the run's size is allocated for the memory.

    A warm start factorises nothing, whatever its method wants. A `final` run trains a second time, on everything.
    Several `processes` share the table; what each of them needs is said, and no time.
    """
    timed = timed and processes == 1
    base = make_recommender(config.base, config.base_settings)
    nmf = make_method(config.method, config.method_settings).wants_factors if factorises else 0
    stand_in = make_stand_in(sizes, base) if timed and stand_in is None else stand_in
    times = step_times(config, stand_in) if timed and stand_in is not None else None
    scale = 1.0 if stand_in is None else stand_in.scale
    memory, seconds = _one_training(config, sizes, base, nmf, times, scale, processes)
    if config.final:
        whole = sizes.everything()
        more = whole.train / max(sizes.train, 1)  # a step goes over the whole graph
        again, longer = _one_training(config, whole, base, nmf, times, scale * more, processes)
        again["evaluate"] = memory["evaluate"]  # nothing is left to measure it on
        memory = {phase: max(ledger, again[phase], key=total) for phase, ledger in memory.items()}
        seconds = {**seconds, FINAL: sum(longer.values())} if seconds and longer else None
    notes = busy_note() if timed else ()
    return Estimate(
        config.base, config.method, config.dim, config.density, sizes, memory, seconds, nmf, notes, processes
    )


def _one_training(
    config: RunConfig,
    sizes: Sizes,
    base: Recommender,
    nmf: int,
    times: StepTimes | None,
    scale: float,
    processes: int,
) -> tuple[dict[str, Ledger], dict[str, float] | None]:
    """Memory and, from measured steps that count `scale` times, seconds, phase by phase."""
    phases = plan_phases(config, sizes, base)
    memory = plan_memory(config, sizes, base, phases, nmf, processes)
    return memory, None if times is None else plan_seconds(config, sizes, phases, nmf, times, scale)


def busy_note() -> tuple[str, ...]:
    """A word of warning where other programs take part of the speed that was measured."""
    cores = os.cpu_count() or 1
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    if load <= 1.25 * cores:
        return ()
    return (
        f"other programs keep this machine busy (load {load:.0f}, {cores} cores): times are as slow as now",
    )


def fits(found: Estimate, usable: int | None) -> bool:
    """Whether a run may fit into memory: the estimate can be too high by its margin. None: memory is not known."""
    return usable is None or found.peak * (1.0 - MEMORY_ERROR) <= usable


def refuse_if_too_big(found: Estimate, usable: int | None) -> None:
    """Raise with the estimate when a run cannot fit."""
    if fits(found, usable):
        return
    assert usable is not None
    raise SettingError(
        "\n".join(
            [
                f"this run needs about {show_bytes(found.peak)} of memory ({found.peak_phase}), and "
                f"{show_bytes(usable)} are free",
                *found.lines(),
                f"what helps: {_advice(found)}; `force` goes on anyway",
            ]
        )
    )


def _advice(found: Estimate) -> str:
    ledger = found.memory[found.peak_phase]
    if found.peak_phase == "nmf":
        return "`method_settings.init=uniform` (no factorisation), or a smaller `dim`"
    if found.peak_phase == "read":
        return "fewer interactions (`read.core=5`), or a machine with more memory"
    largest = max(ledger, key=lambda role: ledger[role])
    if largest in ("graph", "interactions", "batches", "sorting"):
        return "fewer interactions (`read.core=5`)"
    if found.method != "sparserec" and not make_method(found.method).sparse_state:
        return "method sparserec, which holds no dense table, or a smaller `dim`"
    return "a smaller `dim` or `density`"
