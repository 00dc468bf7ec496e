"""From rows to a loss. A new recommender is one file and one line in RECOMMENDERS."""

from __future__ import annotations

from typing import Any

from sparserec.data import Interactions
from sparserec.errors import SettingError
from sparserec.graph import Adjacency, build_adjacency, build_histories
from sparserec.recommenders.base import GraphRecommender, Loss, Perturbation, Sampling
from sparserec.recommenders.history import TEMPERATURE, History, HistorySettings
from sparserec.recommenders.info_nce import CHUNK_BYTES
from sparserec.recommenders.lightgcn import LightGCN, LightGCNSettings
from sparserec.recommenders.mf import MF, MFSettings
from sparserec.recommenders.mgdcf import MGDCF, MGDCFSettings
from sparserec.recommenders.presets import PRESETS
from sparserec.recommenders.rows import Gather, RowBatch, all_at_hand, rows_of
from sparserec.recommenders.xsimgcl import XSimGCL, XSimGCLSettings
from sparserec.settings import Settings

Recommender = GraphRecommender | History

RECOMMENDERS: dict[str, tuple[type, type[Settings]]] = {
    "lightgcn": (LightGCN, LightGCNSettings),
    "mgdcf": (MGDCF, MGDCFSettings),
    "xsimgcl": (XSimGCL, XSimGCLSettings),
    "mf": (MF, MFSettings),
    "history": (History, HistorySettings),
}


def make_recommender(name: str, settings: dict[str, Any] | None = None) -> Recommender:
    """The named recommender with these settings; the rest are its published defaults."""
    if name not in RECOMMENDERS:
        raise SettingError(f"unknown base recommender {name!r}; known: {', '.join(RECOMMENDERS)}")
    kind, settings_kind = RECOMMENDERS[name]
    return kind(settings_kind.parse(settings or {}, f"settings of {name}"))


def graph_of(recommender: Recommender, train: Interactions) -> Adjacency:
    """Who reads from whom: users and items from each other, or users from the items they have."""
    if isinstance(recommender, History):
        settings = recommender.settings
        return build_histories(train, settings.item_exponent, settings.length_exponent or 0.0)
    return build_adjacency(train, recommender.self_loops)


__all__ = [
    "CHUNK_BYTES",
    "PRESETS",
    "RECOMMENDERS",
    "TEMPERATURE",
    "Gather",
    "GraphRecommender",
    "History",
    "Loss",
    "Perturbation",
    "Recommender",
    "RowBatch",
    "Sampling",
    "all_at_hand",
    "graph_of",
    "make_recommender",
    "rows_of",
]
