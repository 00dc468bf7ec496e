"""Result files, one line per finished run with everything that traces the number, and results of single users."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sparserec.errors import DataError, RunError, SettingError
from sparserec.files import replacing
from sparserec.runs.folder import RunFolder, load_split

if TYPE_CHECKING:
    from sparserec.evaluation import UserValues

METRIC, PRECISION = "ndcg@20", "int8"
"""What is kept beside a result file: what the paper's tables are ordered by, of the table as it quantises it."""
FULL = 65535
"""The code of 1: metrics lie between 0 and 1."""


def folder_users(run: RunFolder, metric: str, precision: str) -> UserValues:
    """A metric of every user of a run folder."""
    run.verify(run.per_user.name)
    name = f"{precision}.{metric}"
    try:
        with _opened(run.per_user) as stored:
            if name not in stored:
                known = ", ".join(one for one in stored.files if one != "users")
                raise SettingError(
                    f"{run.path}: {metric!r} of the {precision} table was not measured; there is {known}"
                )
            values, users = stored[name], stored["users"]
    except FileNotFoundError:
        raise RunError(
            f"{run.path}: no {run.per_user.name}; the split has no test part or the folder is damaged"
        ) from None
    from sparserec.evaluation import UserValues

    return UserValues(load_split(run.data).train.user_ids.external(users), values)


def recorded_path(results: Path, name: str) -> Path:
    """Where the users of a line of a result file are."""
    return results.parent / "per_user" / results.stem / f"{name}.npz"


def record_users(path: Path, run: RunFolder, metric: str = METRIC, precision: str = PRECISION) -> None:
    """Write a metric of a run's users in the order of their ids, values rounded to two bytes.

    Ids are those of the log. Whole numbers are written as steps from one to the next, of which almost all are 1.
    """
    users = folder_users(run, metric, precision).in_order()
    ids = users.ids
    steps = np.diff(ids, prepend=0) if np.issubdtype(ids.dtype, np.integer) else None
    arrays = {"ids": ids} if steps is None else {"steps": steps.astype(np.int64)}
    arrays[f"{precision}.{metric}"] = np.rint(users.values * FULL).astype(np.uint16)
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def recorded_users(path: Path, metric: str = METRIC, precision: str = PRECISION) -> UserValues:
    """Read what `record_users` wrote."""
    from sparserec.evaluation import UserValues

    name = f"{precision}.{metric}"
    try:
        with _opened(path) as stored:
            if name not in stored:
                known = ", ".join(one for one in stored.files if one not in ("ids", "steps"))
                raise SettingError(
                    f"{path}: beside a result stands {known} alone, not {name}; give the run's folder instead"
                )
            ids = np.cumsum(stored["steps"]) if "steps" in stored else stored["ids"]
            codes = stored[name]
            if codes.dtype != np.uint16 or codes.shape != ids.shape:
                raise RunError(f"{path}: damaged (codes of {codes.dtype}, {codes.shape} for {ids.shape} ids)")
            return UserValues(ids, codes / FULL)
    except FileNotFoundError:
        raise RunError(
            f"{path}: is missing; this result was written without its users, train it again"
        ) from None


@contextmanager
def _opened(path: Path) -> Iterator[np.lib.npyio.NpzFile]:
    """The arrays of a file; whatever is wrong with it is an error that names it."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            yield stored
    except FileNotFoundError:
        raise
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise RunError(f"{path}: damaged ({error}); train again") from None


Result = dict[str, Any]


def read_results(path: Path) -> list[Result]:
    """All results of a file; empty when there is none yet."""
    if not path.exists():
        return []
    results = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            results.append(json.loads(line))
        except json.JSONDecodeError as error:
            raise DataError(
                f"{path}, line {number}: not JSON ({error.msg}); delete the line and run the queue again"
            ) from None
    return results


def append_result(path: Path, name: str, run: RunFolder) -> None:
    """Add a finished run under its name in the queue; folders of this machine are left out of file names.

    Its users are written first: a line that has the metric has them too.
    """
    record = run.read_record()
    if METRIC in record.test.get(PRECISION, {}) and run.per_user.exists():
        record_users(recorded_path(path, name), run)
    data = {**record.data, "files": [Path(file).name for file in record.data["files"]]}
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"name": name, **record.as_dict(), "data": data}) + "\n")


def find_result(folder: Path, name: str) -> tuple[Path, Result]:
    """The file and line of a result by NAME, or by FILE:NAME where several files have the name."""
    stem, _, own = name.rpartition(":")
    files = [folder / f"{stem}.jsonl"] if stem else sorted(folder.glob("*.jsonl"))
    found = [(file, row) for file in files for row in read_results(file) if row.get("name") == own]
    if not found:
        raise SettingError(
            f"{name}: neither a run folder nor the name of a result in {folder}; `sparserec table "
            f"{folder}/*.jsonl --columns run` lists those"
        )
    if len(found) > 1:
        known = ", ".join(f"{file.stem}:{own}" for file, _ in found)
        raise SettingError(f"{name}: several results have this name; give one of {known}")
    return found[0]
