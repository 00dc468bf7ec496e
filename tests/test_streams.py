"""Draws for different purposes of one run never share a stream."""

from collections import Counter

from sparserec import streams

BASES = ("MGDCF_", "XSIMGCL_", "HISTORY_")
BEFORE_THE_SEED = ("EDGE_ORDER", "DRAWN_ITEMS", "USER_ORDER", "SPLIT", "SPLIT_USERS")
ALL = {name: value for name, value in vars(streams).items() if name.isupper()}
NUMBERS = {name: value for name, value in ALL.items() if name not in BEFORE_THE_SEED}


def test_purposes_of_one_run_have_numbers_of_their_own() -> None:
    for base in BASES:
        others = tuple(prefix for prefix in BASES if prefix != base)
        counts = Counter(value for name, value in NUMBERS.items() if not name.startswith(others))
        assert set(counts.values()) == {1}, base


def test_purposes_before_the_seed_have_numbers_of_their_own() -> None:
    assert len({ALL[name] for name in BEFORE_THE_SEED}) == len(BEFORE_THE_SEED)
