"""Estimates side by side: every method on one base, one method on every base."""

from __future__ import annotations

from sparserec.methods import METHODS
from sparserec.planning.estimate import Estimate, estimate_run
from sparserec.planning.miniature import with_settings
from sparserec.planning.settle import settle_config
from sparserec.planning.sizes import Sizes
from sparserec.planning.timing import StandIn, make_stand_in
from sparserec.recommenders import RECOMMENDERS, make_recommender
from sparserec.training import RunConfig


def estimate_all(config: RunConfig, sizes: Sizes, timed: bool = True) -> list[Estimate]:
    """Every method on the run's base, then the run's method on every other base; other settings are defaults."""
    pairs = [(config.base, method) for method in dict.fromkeys([*METHODS, config.method])]
    pairs += [(base, config.method) for base in RECOMMENDERS if base != config.base]
    stand_ins: dict[str, StandIn] = {}
    found = []
    for base, method in pairs:
        one = settle_config(with_settings(config, base, method), sizes).config
        if timed and base not in stand_ins:
            stand_ins[base] = make_stand_in(sizes, make_recommender(base, one.base_settings))
        found.append(estimate_run(one, sizes, timed, stand_ins.get(base)))
    return found
