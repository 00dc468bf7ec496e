"""Draws for different purposes of one run never share a stream."""

from collections import Counter

from sparserec import streams

BASES = ("MGDCF_", "XSIMGCL_", "HISTORY_")
NUMBERS = {name: value for name, value in vars(streams).items() if name.isupper()}


def test_purposes_of_one_run_have_numbers_of_their_own() -> None:
    for base in BASES:
        others = tuple(prefix for prefix in BASES if prefix != base)
        counts = Counter(value for name, value in NUMBERS.items() if not name.startswith(others))
        assert set(counts.values()) == {1}, base
