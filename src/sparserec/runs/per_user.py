"""Every user's test result under the id the user has in the log, so that any two runs of a split can be paired.

A run folder keeps all metrics in full, by the run's own numbers of users. Beside a result file goes what a claim rests
on: one metric of the table as it is stored, two bytes a user, so that a p-value can be computed again without the run.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from sparserec.errors import RunError, SettingError
from sparserec.evaluation import UserValues
from sparserec.files import replacing
from sparserec.runs.folder import RunFolder
from sparserec.runs.stored_split import load_split

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
