"""Carrying a trained table over to a grown set of users and items: what happens to each of its arrays.

Old rows keep their entries, values and moments, and their age, so that Adam goes on as if it had never stopped. A new
row gets its share of entries in the columns where its neighbours are strongest: that is where a factorisation of the
interactions would put it, at the price of one sparse product. Values of new entries are the initial ones, moments 0.
When the density leaves less room than the old entries take, the smallest are dropped; when it leaves more, positions
are drawn uniformly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from sparserec.data import Interactions
from sparserec.errors import SettingError
from sparserec.exploration import active_target, fill_uniformly, positions_per_block
from sparserec.exploration.select import mark_smallest
from sparserec.methods import Context
from sparserec.table import DenseTable, Shape, SparseTable, Table
from sparserec.table.adam import Cohorts

NEW_ROWS, FILL = 41, 42  # purposes, so that draws from one seed are independent
ROWS_AT_ONCE = 4096
Entries = tuple[np.ndarray, np.ndarray]
"""Rows and columns."""


def continue_table(
    table: Table, old: Table, old_rows: np.ndarray, context: Context, steps: int
) -> dict[str, int]:
    """Put the old table's rows into a fresh `table`; `old_rows` names each row's old one, -1 for none.

    `steps` is how long the old table was trained. Returns counts for the run's record.
    """
    if table.kind != old.kind or table.shape.dim != old.shape.dim:
        raise SettingError(
            f"--from: that run left a {old.kind} table of {old.shape.dim} columns, this method starts with a "
            f"{table.kind} one of {table.shape.dim}; only sparse and dense tables of the same width can be continued"
        )
    new = old_rows < 0
    n_users = table.shape.n_users
    report = {
        "matched": int((~new).sum()),
        "new_users": int(new[:n_users].sum()),
        "new_items": int(new[n_users:].sum()),
    }
    if isinstance(table, SparseTable) and isinstance(old, SparseTable):
        return report | _continue_sparse(table, old, old_rows, context, steps)
    if isinstance(table, DenseTable) and isinstance(old, DenseTable):
        return report | _continue_dense(table, old, old_rows, steps)
    raise SettingError(f"--from: a {table.kind} table cannot be continued")


# -- sparse ------------------------------------------------------------------------------------------------------


def _continue_sparse(
    table: SparseTable, old: SparseTable, old_rows: np.ndarray, context: Context, steps: int
) -> dict[str, int]:
    shape, target = table.shape, active_target(table.shape, context.density)
    new_rows = np.flatnonzero(old_rows < 0)
    quota = min(round(context.density * len(new_rows) * shape.dim), target)
    kept = _kept_entries(old, old_rows, target - quota)
    place = np.full(old.shape.n_rows, -1, np.int64)
    place[old_rows[old_rows >= 0]] = np.flatnonzero(old_rows >= 0)
    rows, columns, values = old.entries()
    rows, columns = place[rows[kept]], columns[kept].astype(np.int64)
    sizes = row_quotas(_row_counts(context.train)[new_rows], quota, shape.dim)
    rng = np.random.default_rng([context.seed, NEW_ROWS])
    grown = new_row_entries(context.train, (rows, columns), values[kept], new_rows, sizes, shape, rng)
    grown = _filled(shape, (rows, columns), grown, target, np.random.default_rng([context.seed, FILL]))
    _load_entries(table, old, kept, (rows, columns), grown, context, steps)
    lost = int((place[old.entries()[0]] < 0).sum())
    return {
        "kept": len(kept), "dropped": len(old.values) - lost - len(kept), "lost_with_rows": lost,
        "grown": len(grown[0]), "active": len(table.values),
    }  # fmt: skip


def _kept_entries(old: SparseTable, old_rows: np.ndarray, most: int) -> np.ndarray:
    """Indices of the old entries that stay: all of matched rows, or the `most` largest of them."""
    matched = np.zeros(old.shape.n_rows, bool)
    matched[old_rows[old_rows >= 0]] = True
    entries = np.flatnonzero(matched[old.entries()[0]])
    if len(entries) <= most:
        return entries
    values, dropped = old.values[entries], np.zeros(len(entries), bool)
    mark_smallest(values, np.array([[0, len(entries)]]), len(entries) - most, dropped)
    return entries[~dropped]


def row_quotas(counts: np.ndarray, quota: int, dim: int) -> np.ndarray:
    """Entries of each new row: the same for all, what is left over one each to the most frequent."""
    if len(counts) == 0:
        return np.empty(0, np.int64)
    sizes = np.full(len(counts), quota // len(counts))
    sizes[np.argsort(-counts, kind="stable")[: quota - int(sizes.sum())]] += 1
    return np.minimum(sizes, dim)


def new_row_entries(
    train: Interactions, entries: Entries, values: np.ndarray, new_rows: np.ndarray, sizes: np.ndarray,
    shape: Shape, rng: np.random.Generator,
) -> Entries:  # fmt: skip
    """`sizes[j]` columns for each new row: those where its neighbours have the largest sum of |value|.

    Equal sums, such as those of rows without old neighbours, are told apart at random.
    """
    magnitudes = scipy.sparse.csr_matrix((np.abs(values), entries), shape=(shape.n_rows, shape.dim))
    links = _links(train, new_rows, shape)
    rows, columns = [], []
    for first in range(0, len(new_rows), ROWS_AT_ONCE):
        part = slice(first, first + ROWS_AT_ONCE)
        scores = np.asarray((links[part] @ magnitudes).todense())
        order = np.lexsort((rng.random(scores.shape), -scores), axis=1)
        chosen = np.arange(shape.dim) < sizes[part][:, None]
        rows.append(np.repeat(new_rows[part], sizes[part]))
        columns.append(order[chosen])
    if not rows:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    return np.concatenate(rows), np.concatenate(columns)


def _links(train: Interactions, new_rows: np.ndarray, shape: Shape) -> scipy.sparse.csr_matrix:
    """New rows by all rows: one where they interact."""
    place = np.full(shape.n_rows, -1, np.int64)
    place[new_rows] = np.arange(len(new_rows))
    users, items = train.users.astype(np.int64), train.items.astype(np.int64) + shape.n_users
    left, right = np.concatenate([users, items]), np.concatenate([items, users])
    wanted = place[left] >= 0
    pairs = place[left[wanted]], right[wanted]
    return scipy.sparse.csr_matrix(
        (np.ones(len(pairs[0]), np.float32), pairs), shape=(len(new_rows), shape.n_rows)
    )


def _row_counts(train: Interactions) -> np.ndarray:
    return np.concatenate([train.user_counts(), train.item_counts()])


def _filled(shape: Shape, kept: Entries, grown: Entries, target: int, rng: np.random.Generator) -> Entries:
    """Grown entries and as many more, anywhere, as the density still asks for."""
    if len(kept[0]) + len(grown[0]) >= target:
        return grown
    together = [np.concatenate(pair) for pair in zip(kept, grown)]
    support = positions_per_block(shape, together[0], together[1])
    rows, columns = [grown[0]], [grown[1]]
    for before, after, (start, width) in zip(
        support, fill_uniformly(shape, support, target, rng), shape.blocks
    ):
        added = np.setdiff1d(after, before, assume_unique=True).astype(np.int64)
        rows.append(added // width)
        columns.append(start + added % width)
    return np.concatenate(rows), np.concatenate(columns)


def _load_entries(
    table: SparseTable, old: SparseTable, kept: np.ndarray, old_entries: Entries, grown: Entries,
    context: Context, steps: int,
) -> None:  # fmt: skip
    """Sort kept and grown entries into the table's blocks, every aligned array alike."""
    shape = table.shape
    cohorts, ages = Cohorts([birth - steps for birth in old.cohorts.births]), old.ages[kept].copy()
    age = cohorts.new(0, ages)
    fresh = context.initial(shape.dim).at(grown[0].astype(np.int32), grown[1].astype(np.int32), shape.n_users)
    nothing = np.zeros(len(fresh), np.float32)
    aligned = {
        "values": np.concatenate([old.values[kept], fresh]),
        "first": np.concatenate([old.first[kept], nothing]),
        "second": np.concatenate([old.second[kept], nothing]),
        "ages": np.concatenate([ages, np.full(len(fresh), age, np.uint8)]),
    }
    rows, columns = (np.concatenate(pair) for pair in zip(old_entries, grown))
    block = columns // shape.width
    order = np.lexsort((columns, rows, block))
    width = np.array([width for _, width in shape.blocks])[block]
    state: dict[str, Any] = {name: array[order] for name, array in aligned.items()}
    state["positions"] = (rows * width + columns % shape.width)[order].astype(np.int32)
    state["bounds"] = np.concatenate([[0], np.cumsum(np.bincount(block, minlength=len(shape.blocks)))])
    state["births"] = np.asarray(cohorts.births, np.int64)
    watched = {name: array for name, array in table.state().items() if name.startswith("candidates.")}
    table.load(state | watched)


# -- dense -------------------------------------------------------------------------------------------------------


def _continue_dense(table: DenseTable, old: DenseTable, old_rows: np.ndarray, steps: int) -> dict[str, int]:
    """Matched rows get old values and moments.

    One age serves the whole table, so new rows begin with the mean second moment of their column: with 0 their first
    steps, corrected as if they were old, would be several times too long.
    """
    matched = np.flatnonzero(old_rows >= 0)
    for name in ("values", "first", "second"):
        before = np.concatenate(getattr(old, name), axis=1)
        for block, (start, width) in zip(getattr(table, name), table.shape.blocks):
            part = before[:, start : start + width]
            if name == "second":
                block[:] = part.mean(axis=0)
            block[matched] = part[old_rows[matched]]
    table.cohorts = Cohorts([birth - steps for birth in old.cohorts.births])
    return {"kept": len(matched) * table.shape.dim, "active": table.parameters()}
