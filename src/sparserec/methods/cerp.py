"""cerp: rows are sums of two codes, the books are pruned by soft thresholds, then retrained (ICDM 2023).

Search: both books and a threshold logit for every entry are trained together, as in pep; a loss on the rows of the
batch rewards entries that are not zero, so that the books prune different columns. It ends at the step where no more
entries than the budget are above their threshold. Retrain: the entries with the largest margin start again from their
initial values.

As in the released code: one numbering of users and items for both books, element-wise logits, the reward halved every
epoch, one threshold race over both books. Ours differs: the budget is met exactly, by margins at the crossing; the
start of the logits follows from the number of search steps (the code's -100 would never cross with large batches);
books start at the scale of the base's own rows; the reward is per batch of the code's size (10 users, 60 items), for a
plain sum over a batch of thousands would drown the base's loss; only the logits decay; negatives are those of the base
(the code has 5, drawn once); no gradient clipping; retraining stops on validation instead of test scores.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from sparserec.methods.base import Context, Phase, StepInfo
from sparserec.methods.pep import PEP, PEPSettings, margin_support, search_table
from sparserec.settings import Between
from sparserec.table import (
    ComposedTable,
    Held,
    InitialValues,
    Shape,
    SparseTable,
    Table,
    ThresholdedTable,
    code_shape,
)


class CERPSettings(PEPSettings):
    book_ratio: float = Field(2.0, ge=1)
    """Entries of both books before pruning, in budgets; 2 is the sparsity .5 of the paper's own runs."""
    reward: Annotated[float, Between(1e-5, 1e-2, log=True)] = Field(1e-4, ge=0)
    """Weight of the loss that keeps entries from 0, in a batch of ten pairs. The code's 1 drowns the base's loss; this
    is what the public benchmark (arXiv 2406.17335) uses with LightGCN."""
    reward_decay: float = Field(0.5, gt=0, le=1)
    """Factor on that weight after every epoch."""
    sharpness: float = Field(100.0, gt=0)
    """Entries are near 0, for that loss, up to about three divided by this."""
    numbering: Literal["log", "degree"] = "log"
    """What a row has its two codes by: its place among the ids of the log, as in the released code, where neighbours of
    public sets are often items of one person; or its place by frequency, as results before 2026-11-20 have."""


class CERP(PEP):
    name = "cerp"
    settings_kind = CERPSettings
    idea = "rows are sums of two codes; prune both books, then retrain"
    paper = "ICDM 2023"
    memory = "codes"

    def __init__(self, settings: CERPSettings) -> None:
        super().__init__(settings)
        self.keeps_numbers = settings.numbering == "log"

    def tables(self, context: Context) -> tuple[Held, Held]:
        shape = context.shape()
        books = code_shape(shape, book_size(context, self.settings.book_ratio))
        searched = ComposedTable.held(shape, ThresholdedTable.held(books), books)
        return searched, ComposedTable.held(shape, context.sparse(), books)

    def start(self, context: Context, phase: Phase, previous: Table | None) -> Table:
        shape, settings = context.shape(), self.settings
        books = code_shape(shape, book_size(context, settings.book_ratio))
        initial = code_values(context)
        if phase.name == "search":
            density = context.budget / (books.n_rows * books.dim)
            steps = phase.last_step(context.steps_per_epoch)
            codes = search_table(context, settings, books, initial, density, steps)
            return ComposedTable(shape, codes, settings.reward, settings.sharpness)
        assert isinstance(previous, ComposedTable) and isinstance(previous.codes, ThresholdedTable)
        support = margin_support(previous.codes, context.budget)
        return ComposedTable(shape, SparseTable.create(books, support, initial))

    def after_step(self, context: Context, table: Table, now: StepInfo) -> bool:
        """Halve the reward with every epoch; end the search as pep does."""
        assert isinstance(table, ComposedTable)
        if now.ends_epoch:
            table.reward *= self.settings.reward_decay
        return super().after_step(context, table.codes, now)


def book_size(context: Context, ratio: float) -> int:
    """Codes in each of the two books; no more than rows, no fewer than the budget needs."""
    wanted = min(round(ratio * context.budget / (2 * context.dim)), context.shape().n_rows)
    return max(wanted, math.ceil(context.budget / (2 * context.dim)))


def code_values(context: Context) -> InitialValues:
    """Initial values of codes: sums of two have the spread of the base's own rows."""
    initial, shape = context.initial(context.dim), context.shape()
    scale = math.sqrt(mean_square(initial, shape) / 2.0)
    return replace(initial, user_scale=scale, item_scale=scale)


def mean_square(initial: InitialValues, shape: Shape) -> float:
    """Squared scale of a row, averaged over users and items."""
    squares = shape.n_users * initial.user_scale**2 + shape.n_items * initial.item_scale**2
    return squares / shape.n_rows
