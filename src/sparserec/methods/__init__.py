"""The ideas compared. A new method is one file and one line in METHODS."""

from __future__ import annotations

from typing import Any

from sparserec.errors import SettingError
from sparserec.methods.base import Context, Method, Phase, PhaseResult, StepInfo, Validate, Validation, ignore
from sparserec.methods.bet import BET, BETSettings
from sparserec.methods.cerp import CERP, CERPSettings
from sparserec.methods.ciess import CIESS, CIESSSettings
from sparserec.methods.dense import Dense, DenseSettings
from sparserec.methods.dhe import DHE, DHESettings
from sparserec.methods.dsl import DSL, DSLSettings
from sparserec.methods.evolution import SET, SETSettings
from sparserec.methods.first_table import FirstTableSettings
from sparserec.methods.gse import GSE, GSESettings
from sparserec.methods.lottery import Lottery, LotterySettings
from sparserec.methods.magnitude import Magnitude, MagnitudeSettings
from sparserec.methods.pep import PEP, PEPSettings
from sparserec.methods.presets import METHOD_PRESETS, with_preset
from sparserec.methods.rigl import RigL, RigLSettings
from sparserec.methods.small_dense import SmallDense, SmallDenseSettings
from sparserec.methods.sparserec import SparseRec, SparseRecSettings
from sparserec.methods.static import Static
from sparserec.methods.taper import Taper, TaperSettings
from sparserec.settings import Settings

METHODS: dict[str, tuple[type, type[Settings]]] = {
    "sparserec": (SparseRec, SparseRecSettings),
    "dense": (Dense, DenseSettings),
    "small_dense": (SmallDense, SmallDenseSettings),
    "static": (Static, FirstTableSettings),
    "taper": (Taper, TaperSettings),
    "dsl": (DSL, DSLSettings),
    "rigl": (RigL, RigLSettings),
    "set": (SET, SETSettings),
    "gse": (GSE, GSESettings),
    "magnitude": (Magnitude, MagnitudeSettings),
    "lottery": (Lottery, LotterySettings),
    "pep": (PEP, PEPSettings),
    "cerp": (CERP, CERPSettings),
    "dhe": (DHE, DHESettings),
    "bet": (BET, BETSettings),
    "ciess": (CIESS, CIESSSettings),
}


def make_method(name: str, settings: dict[str, Any] | None = None) -> Method:
    """The named method with these settings, on top of a preset where one is named; the rest are its defaults."""
    if name not in METHODS:
        raise SettingError(f"unknown method {name!r}; known: {', '.join(METHODS)}")
    kind, settings_kind = METHODS[name]
    return kind(settings_kind.parse(with_preset(name, settings or {}), f"settings of {name}"))


__all__ = [
    "METHODS",
    "METHOD_PRESETS",
    "Context",
    "Method",
    "Phase",
    "PhaseResult",
    "StepInfo",
    "Validate",
    "Validation",
    "ignore",
    "make_method",
]
