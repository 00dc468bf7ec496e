"""Whether this machine is in order for training: what is installed, how fast it is, and what is wrong."""

from __future__ import annotations

import os
import platform
import re
import shutil
import tempfile
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sparserec.compiled import kept_in
from sparserec.files import cache_folder
from sparserec.process import usable_bytes
from sparserec.units import show_bytes

State = Literal["ok", "warning", "wrong"]
LITTLE_MEMORY, LITTLE_DISK = 1 << 30, 1 << 30
MULTIPLY_PAIRS, MULTIPLY_NODES, MULTIPLY_WIDTH = 200_000, 20_000, 32


@dataclass(frozen=True)
class Finding:
    """One thing looked at."""

    name: str
    value: str
    state: State = "ok"
    advice: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def examine(folder: Path | None = None) -> list[Finding]:
    """Look at everything; takes a second or two."""
    folder = Path.cwd() if folder is None else folder
    return [
        Finding("system", f"{platform.system()} {platform.machine()}"),
        *versions(),
        *threads(),
        Finding("multiply", f"{multiply_speed():.1f} GFLOP/s"),
        compiled_cache(kept_in()),
        writable("cache folder", cache_folder()),
        memory(),
        *disk(folder),
    ]


def versions() -> list[Finding]:
    """Python and the packages we need, against the least versions of our own metadata."""
    found = [Finding("python", platform.python_version())]
    for name, least in least_versions().items():
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            found.append(Finding(name, "missing", "wrong", f"pip install '{name}>={least}'"))
            continue
        old = version_key(version) < version_key(least)
        advice = f"{least} or newer is needed: pip install -U {name}" if old else ""
        found.append(Finding(name, version, "wrong" if old else "ok", advice))
    return found


def least_versions(requirements: list[str] | None = None) -> dict[str, str]:
    """Package and least version of what training needs, from our installed metadata."""
    if requirements is None:
        try:
            requirements = metadata.requires("sparserec") or []
        except metadata.PackageNotFoundError:
            requirements = []
    found = {}
    for line in requirements:
        match = re.match(r"([A-Za-z0-9_.-]+)\s*>=\s*([0-9.]+)", line)
        extra = re.search(r"extra == ['\"]([^'\"]+)", line)
        if match and (extra is None or extra.group(1) == "train"):
            found[match.group(1)] = match.group(2)
    return found


def version_key(version: str) -> tuple[int, ...]:
    """Numbers of a version, enough to compare releases."""
    return tuple(int(part) for part in re.findall(r"\d+", version.split("+")[0])[:3])


def usable_cores() -> int:
    """Cores this process may run on, a container's share included."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        if quota != "max":
            cores = min(cores, max(1, round(int(quota) / int(period))))
    except (OSError, ValueError):
        pass
    return cores


def threads() -> list[Finding]:
    """Threads of torch and of the compiled loops, and whether the cores are there and free."""
    import numba
    import torch

    cores = usable_cores()
    found = [Finding("cores", str(cores))]
    for name, count in (
        ("torch threads", torch.get_num_threads()),
        ("loop threads", numba.get_num_threads()),
    ):
        found.append(thread_finding(name, count, cores))
    if hasattr(os, "getloadavg"):
        found.append(load_finding(os.getloadavg()[0], cores))
    return found


def thread_finding(name: str, count: int, cores: int) -> Finding:
    """More threads than cores wait for each other; fewer leave cores idle."""
    if count > cores:
        return Finding(
            name, str(count), "warning", f"more than the {cores} usable cores: set `threads` to {cores}"
        )
    if count < cores:
        set_by = next(
            (key for key in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS") if key in os.environ),
            None,
        )
        why = f"{set_by} is set" if set_by else "set from outside"
        return Finding(name, str(count), "ok", f"{cores} cores could be used ({why})")
    return Finding(name, str(count))


def load_finding(load: float, cores: int) -> Finding:
    """Other work on the same cores makes every time we print wrong."""
    busy = load > 1.25 * cores
    advice = "other programs keep the cores busy: training will take longer than estimated" if busy else ""
    return Finding("load", f"{load:.1f}", "warning" if busy else "ok", advice)


def multiply_speed() -> float:
    """Billions of floating-point operations a second of the sparse multiply, on a small made-up graph."""
    from sparserec.graph import Matrix, build_adjacency
    from sparserec.planning.timing import seconds_of, synthetic_train

    graph = build_adjacency(synthetic_train(MULTIPLY_NODES // 2, MULTIPLY_NODES // 2, MULTIPLY_PAIRS))
    matrix = Matrix(graph.offsets, graph.neighbours, graph.weights)
    block = np.ones((graph.n_nodes, MULTIPLY_WIDTH), np.float32)
    out = np.empty_like(block)
    taken = seconds_of(lambda: matrix.multiply(block, out), 0.1, 10)
    return 2.0 * len(graph.weights) * MULTIPLY_WIDTH / taken / 1e9


def compiled_cache(folder: Path | None) -> Finding:
    """Where compiled loops are kept between runs; without it every start compiles them again."""
    if folder is not None:
        return Finding("compiled loops", str(folder))
    advice = "every start will compile for a minute: set NUMBA_CACHE_DIR to a folder you may write to"
    return Finding("compiled loops", "not kept", "warning", advice)


def writable(name: str, folder: Path) -> Finding:
    """Whether a folder can be written to, or made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        advice = f"cannot be written to ({error.strerror or error}): set SPARSEREC_CACHE to another folder"
        return Finding(name, str(folder), "wrong", advice)
    return Finding(name, str(folder))


def memory() -> Finding:
    """Memory that a run may still take."""
    free = usable_bytes()
    little = free < LITTLE_MEMORY
    advice = "large data sets will not fit; `sparserec estimate` says how much a run needs" if little else ""
    return Finding("free memory", show_bytes(free), "warning" if little else "ok", advice)


def disk(folder: Path) -> list[Finding]:
    """Room where runs and caches go."""
    found = []
    for name, place in (("disk for runs", folder), ("disk for caches", cache_folder())):
        while not place.exists():
            place = place.parent
        free = shutil.disk_usage(place).free
        little = free < LITTLE_DISK
        advice = "checkpoints and downloads may not fit" if little else ""
        found.append(Finding(name, show_bytes(free), "warning" if little else "ok", advice))
    return found
