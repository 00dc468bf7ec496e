"""Two or more finished runs of the same split, compared user by user."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sparserec.errors import RunError, SettingError
from sparserec.evaluation import holm, paired
from sparserec.runs import Record, RunFolder, load_split


def compare_runs(
    runs: Sequence[Path], metric: str = "ndcg@20", precision: str = "float"
) -> list[dict[str, Any]]:
    """Metrics of each run and, for all but the first, a paired test against the first, corrected by Holm's method."""
    if len(runs) < 2:
        raise SettingError("give at least two runs to compare")
    records = [RunFolder(run).read_record() for run in runs]
    for run, record in zip(runs[1:], records[1:]):
        if record.split.hash != records[0].split.hash:
            raise RunError(
                f"{run} and {runs[0]} were trained on different splits ({_split(record)}; {_split(records[0])}): "
                "their users cannot be paired, nor their numbers compared"
            )
    results = [_per_user(run, metric, precision) for run in runs]
    tests = [paired(values, results[0]) for values in results[1:]]
    corrected = holm([test.p for test in tests])
    about: list[dict[str, Any] | None] = [None]
    about += [
        {
            "difference": test.difference,
            "low": test.low,
            "high": test.high,
            "t": test.t,
            "p": test.p,
            "p_holm": float(p),
            "effect": test.effect,
            "users": test.n,
        }
        for test, p in zip(tests, corrected)
    ]
    return [
        {
            "run": run.name,
            "folder": str(run),
            "metrics": _shown(record, precision, metric),
            "parameters": record.parameters,
            "bytes": record.bytes["int8"],
            "test": test,
        }
        for run, record, test in zip(runs, records, about)
    ]


def _split(record: Record) -> str:
    return f"{record.config['data']} {record.split.protocol} seed {record.split.seed}"


def _shown(record: Record, precision: str, metric: str) -> dict[str, float]:
    metrics = record.test[precision]
    names = [name for name in metrics if "." not in name and name.startswith(("recall@", "ndcg@"))]
    return {name: metrics[name] for name in dict.fromkeys([*names, metric])}


def _per_user(run: Path, metric: str, precision: str) -> np.ndarray:
    """One number per user in the order of external ids: every run numbers its users in its own way."""
    RunFolder(run).verify(RunFolder(run).per_user.name)
    try:
        with np.load(RunFolder(run).per_user, allow_pickle=False) as stored:
            name = f"{precision}.{metric}"
            if name not in stored:
                known = ", ".join(one for one in stored.files if one != "users")
                raise SettingError(
                    f"{run}: {metric!r} of the {precision} table was not measured; there is {known}"
                )
            values, users = stored[name], stored["users"]
    except FileNotFoundError:
        raise RunError(
            f"{run}: no {RunFolder(run).per_user.name}; the split has no test part or the folder is damaged"
        ) from None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise RunError(f"{RunFolder(run).per_user}: damaged ({error}); train again") from None
    ids = load_split(RunFolder(run).data).train.user_ids.external(users)
    return values[np.argsort(ids, kind="stable")]
