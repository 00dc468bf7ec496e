"""static: a sparse table whose support never changes. What exploring buys is measured against it.

DSL's code calls this `--fix`. With `init = "nmf"` it also tells how much of SparseRec is its first mask: the support
is where the factorisation is not zero, cut to the largest or filled up with random positions to hold the budget.
"""

from __future__ import annotations

from sparserec.methods.base import Context, Phase
from sparserec.methods.exploring import FirstTableSettings, FromFirstTable, even_rows
from sparserec.table import Table


class Static(FromFirstTable):
    name = "static"
    settings_kind = FirstTableSettings
    idea = "a sparse table whose support never changes"

    def start(self, context: Context, phase: Phase, previous: Table | None) -> Table:
        return self.first_table(context, phase, previous, even_rows(None, context), filled=True)
