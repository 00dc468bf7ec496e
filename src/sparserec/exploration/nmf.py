"""Non-negative matrix factorisation of the interactions, in a child process and cached by data hash.

scikit-learn's coordinate descent (the paper's solver) needs several dense (nodes, rank) arrays. In a child process
that memory is given back when it ends and is measured by itself; the parent only reads the sparse result.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import zipfile
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sparserec.data import Interactions
from sparserec.errors import RunError, TrainingError
from sparserec.files import cache_folder, replacing
from sparserec.progress import progress

VERSION = 1
"""Of what is computed here and in the child process: counted up where the same matrix gives other factors."""
SAMPLED_USERS = 100_000
"""Beyond so many users a sample of them is factorised, and the others follow with the items' factor fixed."""


@dataclass(frozen=True)
class NmfInfo:
    """What the factorisation cost and gave."""

    seconds: float
    peak_bytes: int
    """Of the child process, all of it: libraries, the matrix, the factors and what is written."""
    density_users: float
    density_items: float
    iterations: int
    cached: bool


@dataclass(frozen=True)
class Factors:
    """Non-zeros of both factors: entries of the stacked (users then items, rank) matrix."""

    rows: np.ndarray  # int32
    columns: np.ndarray  # int16 or int32
    values: np.ndarray  # float32, > 0
    rank: int
    info: NmfInfo

    def scaled_entries(self, n_users: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Entries with column k of both factors scaled to equal norm; the product does not change."""
        is_user = self.rows < n_users
        if not is_user.any() or is_user.all():
            return self.rows, self.columns.astype(np.int32), self.values
        norms = []
        for mask in (is_user, ~is_user):
            squares = np.bincount(self.columns[mask], self.values[mask].astype(np.float64) ** 2, self.rank)
            norms.append(np.sqrt(np.maximum(squares, 1e-30)))
        ratio = np.sqrt(norms[1] / norms[0])
        scale = np.where(is_user, ratio[self.columns], 1.0 / ratio[self.columns])
        return self.rows, self.columns.astype(np.int32), (self.values * scale).astype(np.float32)

    def load(self) -> Factors:
        """Itself: factors in memory serve where stored ones do."""
        return self

    def of_items(self, n_users: int) -> Factors:
        """The items' factor alone, rows counted from 0, its columns scaled as in the stacked matrix."""
        rows, columns, values = self.scaled_entries(n_users)
        chosen = rows >= n_users
        return replace(self, rows=rows[chosen] - n_users, columns=columns[chosen], values=values[chosen])

    def relabel(self, order: np.ndarray) -> Factors:
        """The same factors when row order[j] becomes row j."""
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        return replace(self, rows=place[self.rows])

    def strongest(self, n_rows: int, n_users: int) -> np.ndarray:
        """The component in which each row is largest (rank where a row is empty)."""
        rows, columns, values = self.scaled_entries(n_users)
        order = np.lexsort((columns, values, rows))
        best = np.full(n_rows, self.rank, np.int32)
        best[rows[order]] = columns[order]  # the last write of a row is its largest value
        return best


@dataclass(frozen=True)
class StoredFactors:
    """Factors that stay in their cache file until a table is started from them: they are as large as a sparse table."""

    path: Path
    rank: int
    info: NmfInfo
    order: np.ndarray  # row order[j] of the file is row j here
    skipped_users: int = 0  # rows to leave out, where users have none

    def load(self) -> Factors:
        try:
            factors = _read(self.path, self.rank, self.info.cached).relabel(self.order)
        except FileNotFoundError:
            raise RunError(f"{self.path}: was removed while this run went on; start it again") from None
        return factors.of_items(self.skipped_users) if self.skipped_users else factors


def factorise(
    train: Interactions,
    rank: int,
    iterations: int,
    seed: int,
    quiet: bool = True,
    most_users: int = SAMPLED_USERS,
) -> Factors:
    """Factors of the train matrix, from the cache or a child process.

    The cache key is the hash of the numbered pairs: the same data in another numbering is another factorisation.
    """
    path = cached_path(train, rank, iterations, seed)
    if path.exists():
        with suppress(OSError, EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile):  # made again
            return _read(path, rank, cached=True)
    with replacing(path) as temporary:
        _run_child(train, (rank, iterations, seed, most_users), temporary, quiet)
    return _read(path, rank, cached=False)


def cached_path(train: Interactions, rank: int, iterations: int, seed: int) -> Path:
    """Where the factors of this matrix are kept."""
    return cache_folder() / "nmf" / f"{_numbered_hash(train)}-{rank}-{iterations}-{seed}-v{VERSION}.npz"


def _read(path: Path, rank: int, cached: bool) -> Factors:
    with np.load(path, allow_pickle=False) as stored:
        info = NmfInfo(**json.loads(str(stored["info"])), cached=cached)
        return Factors(stored["rows"], stored["columns"], stored["values"], rank, info)


def _numbered_hash(train: Interactions) -> str:
    import hashlib

    digest = hashlib.sha256(f"{train.n_users},{train.n_items},".encode())
    digest.update(np.ascontiguousarray(train.users).data)
    digest.update(np.ascontiguousarray(train.items).data)
    return digest.hexdigest()[:24]


def _run_child(train: Interactions, sizes: tuple[int, int, int, int], out: Path, quiet: bool) -> None:
    """`sizes`: rank, iterations, seed, and the most users to factorise at once."""
    with tempfile.TemporaryDirectory() as folder:
        pairs = Path(folder) / "pairs.npz"
        np.savez(pairs, users=train.users, items=train.items, shape=np.array([train.n_users, train.n_items]))
        command = [sys.executable, "-m", "sparserec.nmf_child"]
        command += [str(pairs), str(out), *map(str, sizes)]
        # The descent itself runs on one thread; more would only wait for each other in its small products.
        threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        environment = os.environ | dict.fromkeys(threads, "1")
        with (
            tempfile.TemporaryFile("w+") as errors,  # a pipe nobody reads could fill up and block the child
            subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment
            ) as child,
            progress("factorising (NMF)", sizes[1], quiet) as bar,
        ):
            assert child.stdout is not None
            for line in child.stdout:
                bar.advance(1, line.strip())
            child.wait()
            errors.seek(0)
            problem = errors.read()
        if child.returncode != 0:
            last = problem.strip().splitlines()[-1] if problem.strip() else f"exit code {child.returncode}"
            raise TrainingError(
                f"the NMF child process failed ({last}); use init=uniform or fewer nmf_iterations"
            )
