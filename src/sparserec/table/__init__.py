"""Where parameters live and how they are updated."""

from sparserec.table.adam import BETA_1, BETA_2, EPSILON, Cohorts
from sparserec.table.base import (
    CHUNKS,
    Candidates,
    EntryDropout,
    Held,
    InitialValues,
    Ledger,
    Shape,
    State,
    Table,
    Update,
    total,
)
from sparserec.table.composed import ComposedTable, code_shape
from sparserec.table.computed import ComputedTable, Hashes, network_size
from sparserec.table.dense import DenseTable, squared_lengths
from sparserec.table.masked import MaskedTable
from sparserec.table.prefix import PrefixTable
from sparserec.table.shards import Shards, cut_state, holders, join_states, shape_for
from sparserec.table.sparse import SparseTable
from sparserec.table.thresholded import ThresholdedTable, Thresholds

TABLES: dict[str, type] = {
    "sparse": SparseTable,
    "dense": DenseTable,
    "masked": MaskedTable,
    "thresholded": ThresholdedTable,
    "composed": ComposedTable,
    "computed": ComputedTable,
    "prefix": PrefixTable,
}
"""Kinds of tables that a file may hold."""

__all__ = [
    "BETA_1",
    "BETA_2",
    "CHUNKS",
    "EPSILON",
    "TABLES",
    "Candidates",
    "Cohorts",
    "ComposedTable",
    "ComputedTable",
    "DenseTable",
    "EntryDropout",
    "Hashes",
    "Held",
    "InitialValues",
    "Ledger",
    "MaskedTable",
    "PrefixTable",
    "Shape",
    "Shards",
    "SparseTable",
    "State",
    "Table",
    "ThresholdedTable",
    "Thresholds",
    "Update",
    "code_shape",
    "cut_state",
    "holders",
    "join_states",
    "network_size",
    "shape_for",
    "squared_lengths",
    "total",
]
