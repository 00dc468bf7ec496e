"""Real copies of named sets, where SPARSEREC_DATA says they are."""

import os

import pytest

from sparserec.data import get_named, load_entry, split_interactions

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not os.environ.get("SPARSEREC_DATA"), reason="SPARSEREC_DATA is not set"),
]


@pytest.mark.parametrize(
    ("name", "train", "valid"), [("gowalla", 706_742, 103_386), ("yelp2018", None, None)]
)
def test_a_copy_with_items_in_another_order_is_recognised(name, train, valid):
    source = load_entry(get_named(name), download=False)
    assert "all pairs checked" in source.report.notes[-1]
    split = split_interactions(source, "public", 0)
    assert len(split.train) + len(split.valid) == len(source.train) and len(split.test) == len(source.test)
    if train is not None:
        assert (len(split.train), len(split.valid)) == (train, valid)
