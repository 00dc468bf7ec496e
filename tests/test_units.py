"""Sizes as people write them."""

from __future__ import annotations

import pytest

from sparserec.errors import SettingError
from sparserec.units import parse_size


@pytest.mark.parametrize(
    ("text", "size"), [("1MB", 10**6), ("900kB", 900_000), ("2 MiB", 2**21), ("1234", 1234)]
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "MB", "1 XB", "-3MB"])
def test_bad_sizes(text: str) -> None:
    with pytest.raises(SettingError, match="for example 1MB"):
        parse_size(text)
