"""Parts of sparse training: pure functions, random generators passed in."""

from sparserec.exploration.by_row import mark_kept
from sparserec.exploration.candidates import CountScale, draw_candidates
from sparserec.exploration.even_rows import deal_entries, even_support, exchange_in_rows
from sparserec.exploration.growth import Growth, LargestScores, RandomGrowth
from sparserec.exploration.init import active_target, nmf_support, positions_per_block, uniform_support
from sparserec.exploration.masked import prune_and_regrow_masked
from sparserec.exploration.nmf import (
    SAMPLED_USERS,
    Factors,
    NmfInfo,
    StoredFactors,
    cached_path,
    factorise,
)
from sparserec.exploration.one_shot import fill_uniformly, largest_row_minimum, largest_support
from sparserec.exploration.prune_and_regrow import (
    Exploration,
    fill_support,
    magnitude_share,
    mark_dropped,
    prune_and_regrow,
    split_quota,
)
from sparserec.exploration.rotation import rotated_table
from sparserec.exploration.schedule import cosine_drop_fraction, explores_after, interval_of
from sparserec.exploration.select import Scope, mark_largest, mark_smallest

__all__ = [
    "SAMPLED_USERS",
    "CountScale",
    "Exploration",
    "Factors",
    "Growth",
    "LargestScores",
    "NmfInfo",
    "RandomGrowth",
    "Scope",
    "StoredFactors",
    "active_target",
    "cached_path",
    "cosine_drop_fraction",
    "deal_entries",
    "draw_candidates",
    "even_support",
    "exchange_in_rows",
    "explores_after",
    "factorise",
    "fill_support",
    "fill_uniformly",
    "interval_of",
    "largest_row_minimum",
    "largest_support",
    "magnitude_share",
    "mark_dropped",
    "mark_kept",
    "mark_largest",
    "mark_smallest",
    "nmf_support",
    "positions_per_block",
    "prune_and_regrow",
    "prune_and_regrow_masked",
    "rotated_table",
    "split_quota",
    "uniform_support",
]
