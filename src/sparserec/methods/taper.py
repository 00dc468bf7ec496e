"""taper: SparseRec with more entries than the budget, the surplus pruned row by row, and a rest of the training after.

Ours, from what the comparison showed (docs/log.md). A dense table to prune needs the memory that we set out to save;
SparseRec at a few times the budget does not. Nothing is grown after the first cut, and a validation score of a wider
table counts no more once it is cut. The cuts are settings of sparserec (methods/exploring.py): this is the name and the
default that they are compared under.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, model_validator

from sparserec.methods.exploring import CutSettings
from sparserec.methods.sparserec import SparseRec, SparseRecSettings
from sparserec.settings import Between


class TaperSettings(SparseRecSettings):
    start_ratio: Annotated[float, Between(1.0, 4.0)] = Field(2.0, ge=1)
    """Entries before the cuts, in budgets; never more than the whole table."""

    @model_validator(mode="before")
    @classmethod
    def _exploring_is_a_group(cls, values: Any) -> Any:
        """How the wide table starts and explores was a group of its own, `exploring`, and may still be."""
        if not isinstance(values, dict) or "exploring" not in values:
            return values
        inner = {name: value for name, value in dict(values["exploring"]).items()}
        for name in CutSettings.model_fields:
            if name in inner:
                raise ValueError(f"{name}: a setting of taper itself, not of exploring")
        return inner | {name: value for name, value in values.items() if name != "exploring"}


class Taper(SparseRec):
    name = "taper"
    item_starts = ()
    settings_kind = TaperSettings
    idea = "sparserec with twice the budget, cut row by row on the way"
    paper = "ours"
