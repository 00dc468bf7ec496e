"""dsl: dynamic sparse training as DSL does it (WSDM 2024), in the released form and as SparseRec describes it.

released: users and items are one table under a mask; the smallest active entries are dropped and the entries with the
largest gradient of the last batch activated. Masks are applied to values only, so every entry has a gradient and Adam
moments at all times: the state is dense, and the ledger says so. described: the two tables are pruned apart, regrowth
is split by their magnitudes, regrown entries start at 0, and moments exist on active entries only (their own age
corrects Adam); the last batch's gradient is still dense. Both start from exactly the budget of positions (the code
draws each with probability `density`), explore to the end, and are restored to the best validation epoch (the code
reports the best test epoch).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from sparserec.exploration import Exploration, prune_and_regrow_masked
from sparserec.methods.base import Context, Phase, StepInfo
from sparserec.methods.exploring import ByLastGradient, Rule, uniform_positions
from sparserec.settings import Between, Settings
from sparserec.table import Held, MaskedTable, Table


class DSLSettings(Settings):
    mode: Literal["released", "described"] = "released"
    """As the released code works, or as SparseRec's paper describes it."""
    drop_fraction: Annotated[float, Between(0.05, 0.6)] = Field(0.5, ge=0, lt=1)
    """Share of active entries dropped at the first exploration."""
    drop_floor: float = Field(0.005, ge=0, lt=1)
    """What the share falls to at the end, along half a cosine."""

    def rule(self) -> Rule:
        """Of mode described: regrown entries start at zero. Of the released one only the shares that are dropped."""
        return Rule(self.drop_fraction, self.drop_floor, scope="tables", keep_value=False)


class DSL(ByLastGradient):
    name = "dsl"
    settings_kind = DSLSettings
    idea = "drop the smallest, grow by the last gradient, to the end"
    paper = "WSDM 2024"
    shardable = False  # a dense gradient in both modes, dense moments too in the released one

    @property
    def released(self) -> bool:
        return self.settings.mode == "released"

    def phases(self, context: Context) -> list[Phase]:
        """One training; the released mode ends by leaving the mask and everything under it behind."""
        compact = Phase("compact", 0, scored_first=True, holds=context.sparse())
        return super().phases(context) + [compact] * self.released

    def holds(self, context: Context) -> Held:
        return MaskedTable.held(context.shape()) if self.released else super().holds(context)

    def start(self, context: Context, phase: Phase, previous: Table | None) -> Table:
        if phase.name == "compact":
            assert isinstance(previous, MaskedTable)
            return previous.to_sparse()
        if not self.released:
            return super().start(context, phase, previous)
        return MaskedTable.create(context.shape(), uniform_positions(context), context.initial(context.dim))

    def gather(self, context: Context, table: Any, step: int) -> None:
        """A masked table has every gradient itself."""
        if not self.released:
            super().gather(context, table, step)

    def growth(self, context: Context, table: Any, now: StepInfo) -> Any:
        return table if self.released else super().growth(context, table, now)

    def exchange(self, context: Context, table: Any, fraction: float, step: int, growth: Any) -> Exploration:
        if self.released:
            return prune_and_regrow_masked(table, fraction)
        return super().exchange(context, table, fraction, step, growth)
