"""Ids that are not there are answered with those that look like them."""

import numpy as np
import pytest

from sparserec.data import IdMap
from sparserec.serving.lookup import LARGEST_SEARCH, item_numbers, nearest, user_number
from sparserec.serving.questions import UnknownItemError, UnknownUserError


def test_nearest_texts_and_numbers() -> None:
    assert nearest(np.array(["anna", "Bob", "carl"]), "ana") == ["anna"]
    assert nearest(np.array(["anna", "Bob", "carl"]), "bob") == ["Bob"]
    assert nearest(np.array(["u0042", "u2942", "u2842"]), "u42")[0] == "u0042"
    assert nearest(np.array([1, 50, 52, 900]), "51") == ["50", "52", "1"]
    assert nearest(np.array([7, 5]), "x") == ["5", "7"]
    assert nearest(np.array([], "U1"), "x") == []


def test_many_ids_are_searched_near_in_order() -> None:
    ids = np.array([f"user{number:06d}" for number in range(LARGEST_SEARCH + 1)])
    assert nearest(ids, "user00412")[0].startswith("user004")


def test_unknown_user_names_the_nearest() -> None:
    with pytest.raises(UnknownUserError, match=r"no user 'u43' among the 2 .* nearest: u42.*history"):
        user_number(IdMap(["u42", "xyz"]), "u43")


def test_history_keeps_order_drops_repeats_and_tells_what_is_unknown() -> None:
    numbers, unknown = item_numbers(IdMap([10, 20, 30]), ["30", 10, 99, 30])
    assert numbers.tolist() == [2, 0] and unknown == [99]
    assert item_numbers(IdMap([1]), [])[0].tolist() == []


def test_nothing_known_is_a_mistake_unless_it_does_no_harm() -> None:
    with pytest.raises(UnknownItemError, match="no item '9'"):
        item_numbers(IdMap([1, 2]), [9, 8])
    assert item_numbers(IdMap([1, 2]), [9], some_known=False)[1] == [9]
