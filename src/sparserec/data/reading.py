"""One entry for all inputs: look at what it is, read it, say what was understood."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sparserec.data.columns import build_source
from sparserec.data.lightgcn import read_lightgcn
from sparserec.data.problems import UnreadableFileError
from sparserec.data.source import ReadReport, Source


def read_source(what: Any, **options: Any) -> Source:
    """Read a LightGCN folder."""
    folder = Path(what)
    paths = {name: folder / f"{name}.txt" for name in ("train", "test") if (folder / f"{name}.txt").exists()}
    if "train" not in paths:
        raise UnreadableFileError(f"{folder}: no train.txt")
    return build_source(
        read_lightgcn(paths), ReadReport("LightGCN text", tuple(str(p) for p in paths.values()))
    )
