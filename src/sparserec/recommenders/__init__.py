"""From rows to a loss. A new recommender is one class, here in RECOMMENDERS or in a package of its own."""

from __future__ import annotations

from typing import Any

from sparserec.errors import SettingError
from sparserec.recommenders.base import (
    Batches,
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
    user_history,
)
from sparserec.recommenders.graph_base import GraphBase
from sparserec.recommenders.history import History
from sparserec.recommenders.item_base import ItemBase
from sparserec.recommenders.lightgcn import LightGCN
from sparserec.recommenders.losses import plain_bpr
from sparserec.recommenders.mf import MF
from sparserec.recommenders.mgdcf import MGDCF
from sparserec.recommenders.rows import RowBatch, rows_of
from sparserec.recommenders.xsimgcl import XSimGCL
from sparserec.settings import find_kind, missing_members

# Settings of each base as published for a data set, and as the SparseRec paper trains it. Plain data.
#
# A preset has `dim`, `base_settings` and `recipe`, named as in a run configuration; what it does not name keeps its
# default. `published-*`: the authors' code or run script for that data set. `paper-*`: the recipe `paper`, explorations
# every 7 epochs on Yelp2018, dimension 128, everything else of the base as published.

Preset = dict[str, Any]


def _published(
    settings: dict[str, Any], rate: float, batch: int, epochs: int, rate_decay: float = 1.0, **more: Any
) -> Preset:
    recipe = {
        "epochs": epochs, "batch_size": batch, "learning_rate": rate, "final_learning_rate": None,
        "rate_falls_by": None, "rate_decay": rate_decay, **more,
    }  # fmt: skip
    return {"dim": 64, "base_settings": settings, "recipe": recipe}


def _paper(settings: dict[str, Any], **recipe: Any) -> Preset:
    return {"dim": 128, "base_settings": settings, "recipe": {"preset": "paper", **recipe}}


_LIGHTGCN = {"layers": 3, "decay": 1e-4, "init_scale": 0.1}
# L2 on all output rows and fresh negatives for every edge, as in the authors' code.
_MGDCF = {
    "layers": 4, "restart_weight": 0.1, "hop_weight": 0.9, "negatives": 300, "group_size": 1, "decay": 1e-4,
    "decay_rows": "all",
}  # fmt: skip
_MGDCF_GOWALLA = {**_MGDCF, "entry_dropout": 0.45, "edge_dropout": 0.0, "output_dropout": 0.3}
_MGDCF_OTHERS = {**_MGDCF, "entry_dropout": 0.3, "edge_dropout": 0.5, "output_dropout": 0.1}
# Three layers as in the authors' leaderboard (0.0723 / 0.0604); the configuration file they ship has two.
_XSIMGCL_YELP = {
    "layers": 3, "noise": 0.2, "contrast_layer": 1, "contrast_weight": 0.2, "temperature": 0.15, "decay": 1e-4,
    "contrast_among": None,
}  # fmt: skip

PRESETS: dict[str, dict[str, Preset]] = {
    "lightgcn": {
        "published-gowalla": _published(_LIGHTGCN, 1e-3, 2048, 1000, batches="users"),
        "published-yelp2018": _published(_LIGHTGCN, 1e-3, 2048, 1000, batches="users"),
        "paper-gowalla": _paper(_LIGHTGCN),
        "paper-yelp2018": _paper(_LIGHTGCN, rate_decay=0.99, explore_every=7),
    },
    "mgdcf": {
        "published-gowalla": _published(_MGDCF_GOWALLA, 1e-2, 8000, 2000, 0.995),
        "published-yelp2018": _published(_MGDCF_OTHERS, 1e-2, 8000, 2000, 0.98),
        "published-amazon-book": _published(_MGDCF_OTHERS, 1e-2, 8000, 2000, 0.98),
        "paper-gowalla": _paper(_MGDCF_GOWALLA),
        "paper-yelp2018": _paper(_MGDCF_OTHERS, explore_every=7),
    },
    "xsimgcl": {
        "published-yelp2018": _published(_XSIMGCL_YELP, 1e-3, 2048, 20),
        "paper-gowalla": _paper(_XSIMGCL_YELP),  # nothing is published for Gowalla
        "paper-yelp2018": _paper(_XSIMGCL_YELP, explore_every=7),
    },
    "mf": {"paper-gowalla": _paper({}), "paper-yelp2018": _paper({}, explore_every=7)},
}


RECOMMENDERS: dict[str, Any] = {kind.name: kind for kind in (LightGCN, MGDCF, XSimGCL, MF, History)}
"""Classes by name."""


def make_recommender(name: str, settings: dict[str, Any] | None = None) -> Recommender:
    """The named recommender with these settings; the rest are its published defaults.

    A name is one of RECOMMENDERS, of an installed package, or `package.module:Class`.
    """
    kind: Any = find_kind(name, RECOMMENDERS, "bases")
    instance: Recommender = kind(kind.settings_kind.parse(settings or {}, f"settings of {name}"))
    if missing := missing_members(instance, Recommender):
        raise SettingError(
            f"base recommender {kind.__name__} has no {', '.join(missing)}; let it inherit from GraphBase or ItemBase "
            "of sparserec.recommenders, which have what most bases share"
        )
    steps = getattr(kind, "stepper", None)
    if steps in (
        Recommender.stepper,
        None if instance.user_rows else GraphBase.stepper,
    ):  # it would train to chance
        raise SettingError(
            f"base recommender {kind.__name__} has no rows for users and no `stepper` of its own: steps over edges "
            "train rows of users. Give it one, and inherit from ItemBase of sparserec.recommenders"
        )
    return instance


__all__ = [
    "PRESETS",
    "RECOMMENDERS",
    "Batches",
    "FoldIn",
    "GraphBase",
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
    "fold_taps",
    "given_history",
    "make_recommender",
    "plain_bpr",
    "rows_of",
    "user_history",
]
