"""Carrying a trained table over to a grown set of users and items: what happens to each of its arrays.

Old rows keep their entries, values and moments, and their age, so that Adam goes on as if it had never stopped. A new
row gets its share of entries in the columns where its neighbours are strongest, with the mean of the neighbours' values
there: that is about where a factorisation of the interactions would put it, at the price of one sparse product. (Random
values in the same places took twice as many epochs to the same validation score.) When the density leaves less room
than the old entries take, the smallest are dropped; when it leaves more, positions are drawn uniformly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from sparserec import streams
from sparserec.data import Interactions
from sparserec.errors import SettingError
from sparserec.exploration import active_target, fill_uniformly, mark_smallest, positions_per_block
from sparserec.methods import Context
from sparserec.table import Cohorts, DenseTable, InitialValues, Shape, SparseTable, Table

ROWS_AT_ONCE = 4096


@dataclass(frozen=True)
class Entries:
    """Some entries of a table, in any order."""

    rows: np.ndarray  # int64
    columns: np.ndarray  # int64
    values: np.ndarray  # float32

    def __len__(self) -> int:
        return len(self.rows)

    def joined(self, other: Entries) -> Entries:
        """These and then the others."""
        pairs = (self.rows, other.rows), (self.columns, other.columns), (self.values, other.values)
        return Entries(*(np.concatenate(pair) for pair in pairs))


def continue_table(
    table: Table, old: Table, old_rows: np.ndarray, context: Context, steps: int
) -> dict[str, int]:
    """Put the old table's rows into a fresh `table`; `old_rows` names each row's old one, -1 for none.

    `steps` is how long the old table was trained. Returns counts for the run's record.
    """
    if table.kind != old.kind or table.shape.dim != old.shape.dim:
        raise SettingError(
            f"`warm`: that run left a {old.kind} table of {old.shape.dim} columns, this method starts with a "
            f"{table.kind} one of {table.shape.dim}; only sparse and dense tables of the same width can be continued"
        )
    new = old_rows < 0
    n_users = table.shape.n_users
    report = {
        "matched": int((~new).sum()),
        "new_users": int(new[:n_users].sum()),
        "new_items": int(new[n_users:].sum()),
    }
    ways: dict[str, Callable[..., dict[str, int]]] = {"sparse": _continue_sparse, "dense": _continue_dense}
    if table.kind not in ways:
        raise SettingError(f"`warm`: a {table.kind} table cannot be continued")
    return report | ways[table.kind](table, old, old_rows, context, steps)


def _links(train: Interactions, new_rows: np.ndarray, shape: Shape) -> scipy.sparse.csr_matrix:
    """New rows by all rows: one where they interact; where there are items only, how many users two of them share."""
    if not shape.n_users:
        ones = np.ones(len(train), np.float32)
        pairs = scipy.sparse.csr_matrix(
            (ones, (train.users, train.items)), shape=(train.n_users, train.n_items)
        )
        return (pairs[:, new_rows].T @ pairs).tocsr()
    place = np.full(shape.n_rows, -1, np.int64)
    place[new_rows] = np.arange(len(new_rows))
    users, items = train.users.astype(np.int64), train.items.astype(np.int64) + shape.n_users
    left, right = np.concatenate([users, items]), np.concatenate([items, users])
    wanted = place[left] >= 0
    pairs = place[left[wanted]], right[wanted]
    ones = np.ones(len(pairs[0]), np.float32)
    return scipy.sparse.csr_matrix((ones, pairs), shape=(len(new_rows), shape.n_rows))


# -- sparse ------------------------------------------------------------------------------------------------------


def _continue_sparse(
    table: SparseTable, old: SparseTable, old_rows: np.ndarray, context: Context, steps: int
) -> dict[str, int]:
    shape, target = table.shape, active_target(table.shape, context.density)
    place = np.full(old.shape.n_rows, -1, np.int64)
    place[old_rows[old_rows >= 0]] = np.flatnonzero(old_rows >= 0)
    new_rows = np.flatnonzero(old_rows < 0)
    quota = min(round(context.density * len(new_rows) * shape.dim), target)
    rows, columns, values = old.entries()
    matched = np.flatnonzero(place[rows] >= 0)
    chosen = largest_entries(values, matched, target - quota)
    kept = Entries(place[rows[chosen]], columns[chosen].astype(np.int64), values[chosen])
    counts = np.concatenate(context.frequencies())
    sizes = row_quotas(counts[new_rows], quota, shape.dim)
    initial = context.initial(shape.dim)
    rng = np.random.default_rng([context.seed, streams.NEW_ROWS])
    grown = new_row_entries(
        kept, _links(context.train, new_rows, shape), new_rows, sizes, shape, initial, rng
    )
    grown = _filled(shape, kept, grown, target, initial, np.random.default_rng([context.seed, streams.FILL]))
    _load_entries(table, old, chosen, kept, grown, steps)
    return {
        "kept": len(kept),
        "dropped": len(matched) - len(kept),
        "lost_with_rows": len(values) - len(matched),
        "grown": len(grown),
        "active": len(table.values),
    }


def largest_entries(values: np.ndarray, entries: np.ndarray, most: int) -> np.ndarray:
    """The `most` of the given entries that are largest in magnitude, in their order; all where there are fewer."""
    if len(entries) <= most:
        return entries
    dropped = np.zeros(len(entries), bool)
    mark_smallest(values[entries], np.array([[0, len(entries)]]), len(entries) - most, dropped)
    return entries[~dropped]


def row_quotas(counts: np.ndarray, quota: int, dim: int) -> np.ndarray:
    """Entries of each new row: the same for all, what is left over one each to the most frequent."""
    if len(counts) == 0:
        return np.empty(0, np.int64)
    sizes = np.full(len(counts), quota // len(counts))
    sizes[np.argsort(-counts, kind="stable")[: quota - int(sizes.sum())]] += 1
    return np.minimum(sizes, dim)


def new_row_entries(
    kept: Entries,
    links: scipy.sparse.csr_matrix,
    new_rows: np.ndarray,
    sizes: np.ndarray,
    shape: Shape,
    initial: InitialValues,
    rng: np.random.Generator,
) -> Entries:
    """`sizes[j]` entries for each new row: the columns where its neighbours have the largest sum of |value|.

    Their value is the mean of the neighbours that have one there. Equal sums, such as those of rows without old
    neighbours, are told apart at random, and where no neighbour has a value the initial one stands.
    """
    whole = scipy.sparse.csr_matrix((kept.values, (kept.rows, kept.columns)), shape=(shape.n_rows, shape.dim))
    ones = scipy.sparse.csr_matrix((np.ones_like(whole.data), whole.indices, whole.indptr), shape=whole.shape)
    found = Entries(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))
    for first in range(0, len(new_rows), ROWS_AT_ONCE):
        part = slice(first, first + ROWS_AT_ONCE)
        strength = (links[part] @ abs(whole)).toarray()
        order = np.lexsort((rng.random(strength.shape), -strength), axis=1)
        rows = np.repeat(np.arange(len(strength)), sizes[part])
        columns = order[np.arange(shape.dim) < sizes[part][:, None]]
        sums, counts = (links[part] @ whole).toarray(), (links[part] @ ones).toarray()
        at = new_rows[part][rows]
        values = initial.at(at.astype(np.int32), columns.astype(np.int32), shape.n_users)
        known = counts[rows, columns] > 0
        values[known] = (sums[rows, columns] / np.maximum(counts[rows, columns], 1))[known]
        found = found.joined(Entries(at, columns, values))
    return found


def _filled(
    shape: Shape, kept: Entries, grown: Entries, target: int, initial: InitialValues, rng: np.random.Generator
) -> Entries:
    """Grown entries and as many more, anywhere and with initial values, as the density still asks for."""
    together = kept.joined(grown)
    if len(together) >= target:
        return grown
    support = positions_per_block(shape, together.rows, together.columns)
    filled = fill_uniformly(shape, support, target, rng)
    for before, after, (start, width) in zip(support, filled, shape.blocks):
        added = np.setdiff1d(after, before, assume_unique=True).astype(np.int32)
        rows, columns = added // width, start + added % width
        values = initial.at(rows, columns, shape.n_users)
        grown = grown.joined(Entries(rows.astype(np.int64), columns.astype(np.int64), values))
    return grown


def _load_entries(
    table: SparseTable, old: SparseTable, chosen: np.ndarray, kept: Entries, grown: Entries, steps: int
) -> None:
    """Sort kept and grown entries into the table's blocks, every aligned array alike."""
    shape, whole = table.shape, kept.joined(grown)
    cohorts, ages = Cohorts([birth - steps for birth in old.cohorts.births]), old.ages[chosen].copy()
    age = cohorts.new(0, ages)
    nothing = np.zeros(len(grown), np.float32)
    aligned = {
        "values": whole.values,
        "first": np.concatenate([old.first[chosen], nothing]),
        "second": np.concatenate([old.second[chosen], nothing]),
        "ages": np.concatenate([ages, np.full(len(grown), age, np.uint8)]),
    }
    block = whole.columns // shape.width
    order = np.lexsort((whole.columns, whole.rows, block))
    width = np.array([width for _, width in shape.blocks])[block]
    state: dict[str, Any] = {name: array[order] for name, array in aligned.items()}
    state["positions"] = (whole.rows * width + whole.columns % shape.width)[order].astype(np.int32)
    state["bounds"] = np.concatenate([[0], np.cumsum(np.bincount(block, minlength=len(shape.blocks)))])
    state["births"] = np.asarray(cohorts.births, np.int64)
    watched = {name: array for name, array in table.state().items() if name.startswith("candidates.")}
    table.load(state | watched)


# -- dense -------------------------------------------------------------------------------------------------------


def _continue_dense(
    table: DenseTable, old: DenseTable, old_rows: np.ndarray, context: Context, steps: int
) -> dict[str, int]:
    """Matched rows get old values and moments, new ones the mean of their old neighbours, where they have any.

    One age serves the whole table, so new rows begin with the mean second moment of their column: with 0 their first
    steps, corrected as if they were old, would be several times too long.
    """
    matched, new_rows = np.flatnonzero(old_rows >= 0), np.flatnonzero(old_rows < 0)
    links = _links(context.train, new_rows, table.shape)[:, matched]
    counts = np.asarray(links.sum(axis=1)).reshape(-1)
    linked = counts > 0
    for name in ("values", "first", "second"):
        before = np.concatenate(getattr(old, name), axis=1)[old_rows[matched]]
        for block, (start, width) in zip(getattr(table, name), table.shape.blocks):
            part = before[:, start : start + width]
            block[matched] = part
            if name == "second":
                block[new_rows] = part.mean(axis=0)
            elif name == "values":
                block[new_rows[linked]] = (links @ part)[linked] / counts[linked, None]
    table.cohorts = Cohorts([birth - steps for birth in old.cohorts.births])
    return {"kept": len(matched) * table.shape.dim, "active": table.parameters()}
