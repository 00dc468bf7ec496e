"""From rows to a loss. A new recommender is one file and one line in RECOMMENDERS."""

from __future__ import annotations

from typing import Any

from sparserec.errors import SettingError
from sparserec.recommenders.base import Loss, Perturbation, Recommender, Sampling
from sparserec.recommenders.lightgcn import LightGCN, LightGCNSettings
from sparserec.recommenders.mf import MF, MFSettings
from sparserec.recommenders.mgdcf import MGDCF, MGDCFSettings
from sparserec.recommenders.presets import PRESETS
from sparserec.recommenders.rows import RowBatch, rows_of
from sparserec.recommenders.xsimgcl import XSimGCL, XSimGCLSettings
from sparserec.settings import Settings

RECOMMENDERS: dict[str, tuple[type, type[Settings]]] = {
    "lightgcn": (LightGCN, LightGCNSettings),
    "mgdcf": (MGDCF, MGDCFSettings),
    "xsimgcl": (XSimGCL, XSimGCLSettings),
    "mf": (MF, MFSettings),
}


def make_recommender(name: str, settings: dict[str, Any] | None = None) -> Recommender:
    """The named recommender with these settings; the rest are its published defaults."""
    if name not in RECOMMENDERS:
        raise SettingError(f"unknown base recommender {name!r}; known: {', '.join(RECOMMENDERS)}")
    kind, settings_kind = RECOMMENDERS[name]
    return kind(settings_kind.parse(settings or {}, f"settings of {name}"))


__all__ = [
    "PRESETS", "RECOMMENDERS", "Loss", "Perturbation", "Recommender", "RowBatch", "Sampling", "make_recommender", "rows_of",
]  # fmt: skip
