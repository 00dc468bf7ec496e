"""Parts of sparse training: pure functions, random generators passed in."""

from sparserec.exploration.candidates import (
    CountScale,
    Growth,
    LargestOfSample,
    LargestScores,
    RandomGrowth,
    cosine_drop_fraction,
    draw_candidates,
    explores_after,
    interval_of,
    sample_inactive,
)
from sparserec.exploration.even_rows import allocate_entries, even_support, exchange_in_rows, rotated_table
from sparserec.exploration.init import (
    active_target,
    nmf_support,
    positions_per_block,
    uniform_support,
)
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
    prune_and_regrow_masked,
    split_quota,
)
from sparserec.exploration.select import Scope, mark_kept, mark_largest, mark_smallest

__all__ = [
    "SAMPLED_USERS",
    "CountScale",
    "Exploration",
    "Factors",
    "Growth",
    "LargestOfSample",
    "LargestScores",
    "NmfInfo",
    "RandomGrowth",
    "Scope",
    "StoredFactors",
    "active_target",
    "allocate_entries",
    "cached_path",
    "cosine_drop_fraction",
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
    "sample_inactive",
    "split_quota",
    "uniform_support",
]
