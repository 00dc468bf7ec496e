"""A trained table as a file: its arrays, its kind and its shape."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from sparserec.errors import RunError
from sparserec.table import TABLES, Shape, Table
from sparserec.training.checkpoint import read_arrays, write_arrays


def save_table(path: Path, table: Table) -> None:
    """Write what `load_table` needs; candidates of an exploration under way are left out."""
    arrays = {name: array for name, array in table.state().items() if not name.startswith("candidates.")}
    write_arrays(path, arrays, {"kind": table.kind, "shape": asdict(table.shape)})


def load_table(path: Path) -> Table:
    """The table as it was saved, ready to evaluate, recommend from or train on."""
    arrays, stored = read_arrays(path)
    try:
        kind, shape = TABLES[stored["kind"]], Shape(**stored["shape"])
    except (KeyError, TypeError) as error:
        raise RunError(f"{path}: not a table file of this version ({error})") from error
    return kind.revive(shape, arrays)  # type: ignore[attr-defined]
