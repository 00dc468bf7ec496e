"""Settings of methods as published, where our defaults are others. Plain data.

`--set method_settings.preset=published`; what is given beside it wins.
"""

from __future__ import annotations

from typing import Any

from sparserec.errors import SettingError

METHOD_PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "cerp": {
        "published": {"reward": 1.0, "threshold_ceiling": 1.0, "threshold_rate": 1e-3, "search_epochs": 50}
    },
    "bet": {"published": {"retrained": None}},
    "ciess": {
        "published": {"episodes": 30, "episode_steps": 11, "probe_share": 0.09, "updates": 1, "fit": False},
    },
    "dhe": {"published": {"hashes": 1024, "width": 512, "output_dims": [8, 16, 32, 64, 128]}},
}


def with_preset(method: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Settings with those of the preset they name underneath."""
    given = dict(settings)
    name = given.pop("preset", None)
    if name is None:
        return given
    known = METHOD_PRESETS.get(method, {})
    if name not in known:
        raise SettingError(f"unknown preset {name!r} of {method}; known: {', '.join(known) or 'none'}")
    return known[name] | given
