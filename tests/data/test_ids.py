"""IdMap against a plain dictionary."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparserec.data import IdMap
from sparserec.data.errors import IdRangeError
from sparserec.data.interactions import number_ids

whole_numbers = st.lists(st.integers(-(2**63), 2**63 - 1), unique=True, max_size=30)
texts = st.lists(
    st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=8), unique=True
)


@given(st.one_of(whole_numbers, texts), st.randoms())
def test_lookup_is_a_dictionary(ids, random):
    random.shuffle(ids)
    id_map = IdMap(np.array(ids))
    wanted = ids + ([12345, -7] if ids and isinstance(ids[0], int) else ["no such id"])
    slow = {name: number for number, name in enumerate(ids)}
    assert id_map.index_of(np.array(wanted)).tolist() == [slow.get(name, -1) for name in wanted]
    assert id_map.external(np.arange(len(ids))).tolist() == ids


def test_numbers_are_found_by_their_text_and_texts_by_their_number():
    assert IdMap(np.array([30, 10, 20])).index_of(["10", "20", "010", "x", "1e1"]).tolist() == [
        1,
        2,
        -1,
        -1,
        -1,
    ]
    assert IdMap(np.array([-1, 2**60 + 1])).index_of(
        np.array([2**64 - 1, 2**60 + 1], np.uint64)
    ).tolist() == [-1, 1]
    assert IdMap(np.array(["7", "8"])).index_of([8, 9]).tolist() == [1, -1]


def test_take_reorders():
    taken = IdMap(np.array(["a", "b", "c"])).take(np.array([2, 0]))
    assert taken.external().tolist() == ["c", "a"]
    assert taken.index_of(["a", "b"]).tolist() == [1, -1]


def test_repeated_and_overlong_ids_are_refused():
    with pytest.raises(IdRangeError, match="unique"):
        IdMap(np.array([1, 2, 1]))
    with pytest.raises(IdRangeError, match="64 bits"):
        IdMap(np.array([2**63], np.uint64))
    with pytest.raises(IdRangeError, match="2000 characters"):
        IdMap(np.array(["a", "b" * 2000], object))


@given(st.one_of(st.lists(st.integers(-5, 5), min_size=1), st.lists(st.sampled_from("abcxyz"), min_size=1)))
def test_numbering_is_by_sorted_id(values):
    codes, ids = number_ids(np.array(values))
    assert ids.external().tolist() == sorted(set(values))
    assert ids.external(codes).tolist() == values
