"""sparserec.load: a run folder or an exported file, whichever the path is."""

from __future__ import annotations

from pathlib import Path

from sparserec.errors import RunError
from sparserec.serving.file_model import FileModel
from sparserec.serving.model import Model


def load(path: Path | str) -> Model | FileModel:
    """Open a trained run (a folder) or an exported model (a .srec file); both answer the same questions."""
    path = Path(path)
    if not path.exists():
        raise RunError(f"{path}: no such run folder or model file; `sparserec runs` lists runs")
    return Model(path) if path.is_dir() else FileModel(path)
