"""From rows to a loss. A new recommender is one class, here in RECOMMENDERS or in a package of its own."""

from __future__ import annotations

from typing import Any

from sparserec.data import Interactions
from sparserec.errors import SettingError
from sparserec.graph import Adjacency
from sparserec.recommenders.base import (
    Batches,
    GraphRecommender,
    Loss,
    MoreSteps,
    Perturbation,
    Recommender,
    Sampling,
    Steps,
    StepSizes,
    Tried,
)
from sparserec.recommenders.fold_in import (
    FoldIn,
    Vectors,
    fold_taps,
    given_history,
    scaled_rows,
    user_history,
)
from sparserec.recommenders.graph_base import GraphBase
from sparserec.recommenders.history import History
from sparserec.recommenders.item_base import ItemBase
from sparserec.recommenders.lightgcn import LightGCN
from sparserec.recommenders.mf import MF
from sparserec.recommenders.mgdcf import MGDCF
from sparserec.recommenders.presets import PRESETS
from sparserec.recommenders.rows import Gather, RowBatch, all_at_hand, rows_of
from sparserec.recommenders.xsimgcl import XSimGCL
from sparserec.settings import find_kind, missing_members

RECOMMENDERS: dict[str, Any] = {kind.name: kind for kind in (LightGCN, MGDCF, XSimGCL, MF, History)}
"""Classes by name."""


def make_recommender(name: str, settings: dict[str, Any] | None = None) -> Recommender:
    """The named recommender with these settings; the rest are its published defaults.

    A name is one of RECOMMENDERS, of an installed package, or `package.module:Class`.
    """
    kind: Any = find_kind(name, RECOMMENDERS, "bases")
    made: Recommender = kind(kind.settings_kind.parse(settings or {}, f"settings of {name}"))
    _check_base(made)
    return made


def _check_base(base: Recommender) -> None:
    """Refuse what would fail, or train to chance, in the middle of a run."""
    missing, kind = missing_members(base, Recommender), type(base).__name__
    if missing:
        raise SettingError(
            f"base recommender {kind} has no {', '.join(missing)}; let it inherit from GraphBase or ItemBase of "
            "sparserec.recommenders, which have what most bases share"
        )
    steps = getattr(type(base), "stepper", None)
    if steps is ItemBase.stepper or (not base.user_rows and steps is GraphBase.stepper):
        raise SettingError(
            f"base recommender {kind} has no rows for users and no `stepper` of its own: steps over edges train rows "
            "of users. Give it one, and inherit from ItemBase of sparserec.recommenders"
        )


def graph_of(recommender: Recommender, train: Interactions) -> Adjacency:
    """Who reads from whom."""
    return recommender.graph(train)


__all__ = [
    "PRESETS",
    "RECOMMENDERS",
    "Batches",
    "FoldIn",
    "Gather",
    "GraphBase",
    "GraphRecommender",
    "History",
    "ItemBase",
    "Loss",
    "MoreSteps",
    "Perturbation",
    "Recommender",
    "RowBatch",
    "Sampling",
    "StepSizes",
    "Steps",
    "Tried",
    "Vectors",
    "all_at_hand",
    "fold_taps",
    "given_history",
    "graph_of",
    "make_recommender",
    "rows_of",
    "scaled_rows",
    "user_history",
]
