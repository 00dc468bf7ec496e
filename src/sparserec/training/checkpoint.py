"""Arrays as files: checkpoints and tables. Safetensors, with what is no array as JSON in the metadata. Atomic."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from sparserec.errors import RunError
from sparserec.files import replacing

if TYPE_CHECKING:
    from sparserec.table import Table

Arrays = dict[str, np.ndarray]


def write_arrays(path: Path, arrays: Arrays, state: dict[str, Any]) -> None:
    """Write arrays and state under one name that is either the old file or the complete new one."""
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    try:
        with replacing(path) as temporary:
            save_file(contiguous, temporary, metadata={"state": json.dumps(state)})
    except (OSError, SafetensorError) as error:
        raise RunError(f"{path}: cannot write ({error}); is the disk full? Nothing was changed") from error


def read_arrays(path: Path) -> tuple[Arrays, dict[str, Any]]:
    """Read what write_arrays wrote; a damaged file is a RunError that names it."""
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}
        return arrays, json.loads(metadata["state"])
    except FileNotFoundError:
        raise RunError(f"{path}: no such file") from None
    except (SafetensorError, KeyError, ValueError, OSError) as error:
        raise RunError(f"{path}: damaged or not one of ours ({error})") from error


def with_prefix(prefix: str, arrays: Arrays) -> Arrays:
    """Names under a prefix, so that several parts share a file."""
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def without_prefix(prefix: str, arrays: Arrays) -> Arrays:
    """The part of the arrays that lies under a prefix."""
    start = f"{prefix}."
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}


def save_table(path: Path, table: Table) -> None:
    """Write what `load_table` needs; candidates of an exploration under way are left out."""
    arrays = {name: array for name, array in table.state().items() if not name.startswith("candidates.")}
    write_arrays(path, arrays, {"kind": table.kind, "shape": asdict(table.shape)})


def load_table(path: Path) -> Table:
    """The table as it was saved, ready to evaluate, recommend from or train on."""
    from sparserec.table import TABLES, Shape  # arrays alone are read without torch

    arrays, stored = read_arrays(path)
    try:
        kind, shape = TABLES[stored["kind"]], Shape(**stored["shape"])
    except (KeyError, TypeError) as error:
        raise RunError(f"{path}: not a table file of this version ({error})") from error
    return kind.revive(shape, arrays)  # type: ignore[attr-defined]
