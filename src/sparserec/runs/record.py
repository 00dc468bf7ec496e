"""What is written about a run: a line per event while it trains, one record when it is done."""

from __future__ import annotations

import json
import platform
import subprocess
import time
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = ("torch", "numpy", "scipy", "scikit-learn", "numba", "safetensors")


class Recorder:
    """Appends events to a JSONL file; a resumed run first drops the lines after its checkpoint."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def keep(self, lines: int) -> None:
        """Forget all but the first `lines` events."""
        if self.path.exists():
            kept = self.path.read_text(encoding="utf-8").splitlines(keepends=True)[:lines]
            self.path.write_text("".join(kept), encoding="utf-8")

    def __call__(self, event: dict[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**event, "time": round(time.time(), 1)}) + "\n")

    def events(self) -> list[dict[str, Any]]:
        """All events so far; a line cut off by a crash is left out."""
        if not self.path.exists():
            return []
        lines = self.path.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines if line.endswith("}")]


def environment() -> dict[str, Any]:
    """Versions, machine and threads: what one needs to explain a difference between two results."""
    import torch

    return {
        "sparserec": _version("sparserec"),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "machine": platform.machine(),
        "system": platform.system(),
        "threads": torch.get_num_threads(),
        "mkl": torch.backends.mkl.is_available(),
        "commit": commit(),
    }


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def commit() -> str | None:
    """Commit of the source tree the package runs from, with a + when it has local changes; None when installed."""
    root = Path(__file__).resolve().parents[3]
    if not (root / ".git").exists():
        return None
    try:
        head = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=True
        )
        changed = subprocess.run(
            ["git", "status", "--porcelain", "--untracked-files=no", "src"],
            cwd=root,
            capture_output=True,
            text=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return head.stdout.strip()[:12] + ("+" if changed.stdout.strip() else "")
