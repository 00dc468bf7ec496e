"""Where method sparserec starts on a base whose users have no rows, for those who leave it open.

On rotated axes, with twice the entries that are kept, more of them for items that many have: the best of what was
compared (docs/log.md). It takes a dense training of the same width, so the paper's factorisation stands where that
does not fit into memory or where several processes share the table. With rows for users the paper's start is the
default.
"""

from __future__ import annotations

from typing import Any

from sparserec.planning.estimate import estimate_run, fits
from sparserec.planning.sizes import Sizes
from sparserec.recommenders import make_recommender
from sparserec.training import RunConfig
from sparserec.units import show_bytes

BEST: dict[str, Any] = {"init": "rotated", "start_ratio": 2.0, "row_exponent": 0.3}
PAPERS: dict[str, Any] = {"init": "nmf"}


def leaves_start_open(config: RunConfig) -> bool:
    """Who names `init` gets that and nothing beside it."""
    named = config.method != "sparserec" or "init" in config.method_settings
    return not named and not make_recommender(config.base, config.base_settings).user_rows


def best_start(config: RunConfig) -> RunConfig:
    """The configuration with its start written out as it is where nothing stands against it."""
    return _with(config, BEST) if leaves_start_open(config) else config


def settle_start(
    config: RunConfig, sizes: Sizes, usable: int | None, processes: int = 1, goes_on: bool = False
) -> tuple[RunConfig, str | None]:
    """The configuration with its start written out, and a sentence where that is not the best one.

    `usable` is the memory left, None: not known. A run that `goes_on` from another starts with that one's rows.
    """
    if not leaves_start_open(config):
        return config, None
    best = best_start(config)
    if goes_on:
        return _with(config, PAPERS), None
    if processes > 1:
        return _with(config, PAPERS), "several processes share the table: it starts from a factorisation"
    needed = estimate_run(best, sizes, timed=False)
    if fits(needed, usable):
        return best, None
    assert usable is not None
    return _with(config, PAPERS), (
        f"a dense table to start from would take {show_bytes(needed.peak)} of the {show_bytes(usable)} that are free: "
        "the table starts from a factorisation (`method_settings.init=rotated` insists)"
    )


def _with(config: RunConfig, start: dict[str, Any]) -> RunConfig:
    """What was given beside it wins."""
    return config.model_copy(update={"method_settings": {**start, **config.method_settings}})
