"""The ideas compared. A new method is one class, here in METHODS or in a package of its own."""

from __future__ import annotations

from typing import Any

from sparserec.errors import SettingError
from sparserec.methods.base import (
    Context,
    Method,
    MethodDefaults,
    Phase,
    PhaseResult,
    StepInfo,
    Validate,
    Validation,
    ignore,
)
from sparserec.methods.bet import BET
from sparserec.methods.cerp import CERP
from sparserec.methods.ciess import CIESS
from sparserec.methods.dense import Dense
from sparserec.methods.dhe import DHE
from sparserec.methods.dsl import DSL
from sparserec.methods.gse import GSE
from sparserec.methods.lottery import Lottery
from sparserec.methods.magnitude import Magnitude
from sparserec.methods.pep import PEP
from sparserec.methods.rigl import RigL
from sparserec.methods.set_method import SET
from sparserec.methods.small_dense import SmallDense
from sparserec.methods.sparserec import SparseRec, Taper
from sparserec.methods.static import Static
from sparserec.settings import find_kind, missing_members

# Settings of methods as published, where our defaults are others. Plain data.
#
# `--set method_settings.preset=published`; what is given beside it wins.

METHOD_PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "cerp": {
        "published": {"reward": 1.0, "threshold_ceiling": 1.0, "threshold_rate": 1e-3, "search_epochs": 50}
    },
    "bet": {"published": {"retrained": None}},
    "ciess": {
        "published": {"episodes": 30, "episode_steps": 11, "probe_share": 0.09, "updates": 1, "fit": False}
    },
    "dhe": {"published": {"hashes": 1024, "width": 512, "output_dims": [8, 16, 32, 64, 128]}},
}


METHODS: dict[str, type[Method]] = {
    kind.name: kind
    for kind in (
        SparseRec, Dense, SmallDense, Static, Taper, DSL, RigL, SET, GSE, Magnitude, Lottery, PEP, CERP, DHE, BET,
        CIESS,
    )
}  # fmt: skip


def make_method(name: str, settings: dict[str, Any] | None = None) -> Method:
    """The named method with these settings, on top of a preset where one is named; the rest are its defaults.

    A name is one of METHODS, of an installed package, or `package.module:Class`.
    """
    kind: Any = find_kind(name, METHODS, "methods")
    given, presets = dict(settings or {}), METHOD_PRESETS.get(name, {})
    preset = given.pop("preset", None)
    if preset is not None and preset not in presets:
        raise SettingError(f"unknown preset {preset!r} of {name}; known: {', '.join(presets) or 'none'}")
    settings = presets.get(preset, {}) | given
    instance: Method = kind(kind.settings_kind.parse(settings, f"settings of {name}"))
    missing = missing_members(instance, Method)
    if missing or getattr(kind, "start", None) is Method.start:
        raise SettingError(
            f"method {name}: {kind.__name__} has no {', '.join(missing or ['start'])}; let it inherit from "
            "MethodDefaults of sparserec.methods, which has what most methods share"
        )
    return instance


__all__ = [
    "METHODS",
    "Context",
    "Method",
    "MethodDefaults",
    "Phase",
    "PhaseResult",
    "StepInfo",
    "Validate",
    "Validation",
    "ignore",
    "make_method",
]
