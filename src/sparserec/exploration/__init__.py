"""Parts of sparse training: pure functions, random generators passed in."""

from sparserec.exploration.candidates import Reading, draw_candidates
from sparserec.exploration.growth import Growth, LargestScores, RandomGrowth
from sparserec.exploration.init import active_target, nmf_support, positions_per_block, uniform_support
from sparserec.exploration.masked import prune_and_regrow_masked
from sparserec.exploration.nmf import Factors, factorise
from sparserec.exploration.one_shot import fill_uniformly, largest_row_minimum, largest_support
from sparserec.exploration.prune_and_regrow import (
    Exploration,
    fill_support,
    magnitude_share,
    mark_dropped,
    prune_and_regrow,
    split_quota,
)
from sparserec.exploration.schedule import cosine_drop_fraction, explores_after, interval_of
from sparserec.exploration.select import Scope

__all__ = [
    "Exploration", "Factors", "Growth", "LargestScores", "RandomGrowth", "Reading", "Scope", "active_target", "cosine_drop_fraction", "draw_candidates",
    "explores_after", "factorise", "fill_support", "fill_uniformly", "interval_of", "largest_row_minimum", "largest_support",
    "magnitude_share", "mark_dropped", "nmf_support", "positions_per_block", "prune_and_regrow",
    "prune_and_regrow_masked", "split_quota", "uniform_support",
]  # fmt: skip
