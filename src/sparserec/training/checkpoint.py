"""Arrays as files: checkpoints and tables. Safetensors, with what is no array as JSON in the metadata. Atomic.

Several processes write a file per part of a table, each its own, and the first one the file that says that all are
there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from sparserec.distributed import ALONE, Processes
from sparserec.errors import RunError
from sparserec.files import replacing

if TYPE_CHECKING:
    from sparserec.table import Shape, Table

Arrays = dict[str, np.ndarray]
CHECKED, UNCHECKED = "sha256 and state", "state"
"""Where a file has what is no array; the second in those of before there was a checksum."""
REMEDY = "copy the file back, or delete the run folder and train again"


def write_arrays(
    path: Path, arrays: Arrays, state: dict[str, Any], processes: Processes | None = None
) -> None:
    """Write arrays and state under one name that is either the old file or the complete new one.

    Of several processes the first one writes when all are here, and all go on when it is there.
    """
    if processes is not None and not processes.alone:
        processes.wait()
        if processes.first:
            write_arrays(path, arrays, state)
        processes.wait()
        return
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    try:
        with replacing(path) as temporary:
            text = json.dumps(state)
            # under one name: several would be stored in any order, and the same run would not make the same bytes
            save_file(contiguous, temporary, metadata={CHECKED: f"{contents_hash(contiguous, text)} {text}"})
    except (OSError, SafetensorError) as error:
        raise RunError(f"{path}: cannot write ({error}); is the disk full? Nothing was changed") from error


def read_arrays(path: Path) -> tuple[Arrays, dict[str, Any]]:
    """Read what write_arrays wrote; a damaged file is a RunError that names it."""
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}
        checksum, text = (
            metadata[CHECKED].split(" ", 1) if CHECKED in metadata else (None, metadata[UNCHECKED])
        )
        state = json.loads(text)
    except FileNotFoundError:
        raise RunError(f"{path}: no such file") from None
    except (SafetensorError, KeyError, ValueError, OSError) as error:
        raise RunError(f"{path}: damaged or not one of ours ({error})") from error
    if checksum is not None and checksum != contents_hash(arrays, text):
        raise RunError(f"{path}: damaged, its contents do not have their checksum; {REMEDY}")
    return arrays, state


def contents_hash(arrays: Arrays, state: str) -> str:
    """SHA-256 of all that a file holds."""
    found = hashlib.sha256(state.encode())
    for name, array in sorted(arrays.items()):
        found.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        found.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return found.hexdigest()


@contextmanager
def fitting(path: Path) -> Iterator[None]:
    """What was read from a file is put to use; arrays or words that are missing or do not fit are the file's fault."""
    try:
        yield
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        what = f"{type(error).__name__}: {error}"
        raise RunError(f"{path}: damaged, or of another version ({what}); {REMEDY}") from error


def without_prefix(prefix: str, arrays: Arrays) -> Arrays:
    """The part of the arrays that lies under a prefix."""
    start = f"{prefix}."
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}


def save_table(path: Path, table: Table) -> None:
    """Write what `load_table` needs; candidates of an exploration under way are left out."""
    from sparserec.table import holders

    kept = {name: array for name, array in table.state().items() if not name.startswith("candidates.")}
    arrays = put_state(path, kept, table.shape)
    write_arrays(path, arrays, {"kind": table.kind, "shape": table.shape.sizes}, holders(table.shape))


def load_table(path: Path, processes: Processes = ALONE) -> Table:
    """The table as it was saved, ready to evaluate, recommend from or train on; a process gets the parts it holds."""
    from sparserec.table import TABLES, shape_for  # arrays alone are read without torch

    arrays, stored = read_arrays(path)
    with fitting(path):
        kind, shape = TABLES[stored["kind"]], shape_for(processes, **stored["shape"])
        return kind.revive(shape, take_state(path, arrays, shape))  # type: ignore[attr-defined]


def put_state(path: Path, state: Arrays, shape: Shape) -> Arrays:
    """What of a table's state belongs into the file `path`: all of it, unless several processes hold the table.

    Then each part has a file beside it. They are of no use before `path` is written, which names them by its own name.
    """
    from sparserec.table import cut_state, holders

    if holders(shape).alone:
        return state
    for part in shape.parts:
        write_arrays(part_path(path, part), cut_state(state, shape, part), {})
    return {}


def take_state(path: Path, arrays: Arrays, shape: Shape) -> Arrays:
    """The state of the parts held here, from what `put_state` left, with however many processes."""
    from sparserec.table import Shape, cut_state, holders, join_states

    if not arrays:
        return join_states([read_arrays(part_path(path, part))[0] for part in shape.parts], shape.by_rows)
    if holders(shape).alone:
        return arrays
    whole = Shape(**shape.sizes)
    return join_states([cut_state(arrays, whole, part) for part in shape.parts], shape.by_rows)


def part_path(path: Path, part: int) -> Path:
    """The file of one part of a table whose file is `path`."""
    return path.with_name(f"{path.stem}.part-{part}{path.suffix}")
