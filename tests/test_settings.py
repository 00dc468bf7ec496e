"""A mistyped setting is refused with a message that says what to write instead."""

from __future__ import annotations

import pytest
from pydantic import Field, ValidationError

from sparserec.errors import SettingError
from sparserec.settings import Settings


class Inner(Settings):
    depth: int = 1


class Example(Settings):
    density: float = Field(0.125, gt=0, le=1)
    """Share of active entries."""
    inner: Inner = Inner()


def test_given_values_replace_defaults() -> None:
    parsed = Example.parse({"density": 0.5, "inner": {"depth": 2}})
    assert (parsed.density, parsed.inner.depth) == (0.5, 2)
    assert Example.parse({}).density == 0.125


def test_unknown_key_names_the_nearest_one() -> None:
    with pytest.raises(
        SettingError, match=r"settings of x: unknown setting 'densty'; did you mean 'density'\?"
    ):
        Example.parse({"densty": 0.5}, "settings of x")


def test_unknown_key_far_from_all_lists_what_is_known() -> None:
    with pytest.raises(SettingError, match="known: density, inner"):
        Example.parse({"zzz": 1})


def test_unknown_key_of_an_inner_model_names_that_models_keys() -> None:
    with pytest.raises(SettingError, match=r"unknown setting 'inner.dept'; did you mean 'depth'\?"):
        Example.parse({"inner": {"dept": 2}})


def test_value_out_of_range_shows_field_and_value() -> None:
    with pytest.raises(SettingError, match=r"density: .*less than or equal to 1 \(got 2\)"):
        Example.parse({"density": 2})


def test_every_mistake_is_listed_at_once() -> None:
    with pytest.raises(SettingError) as caught:
        Example.parse({"density": "much", "wrong": 1})
    assert "density" in str(caught.value) and "wrong" in str(caught.value)


def test_settings_cannot_be_changed_afterwards() -> None:
    with pytest.raises(ValidationError):
        Example.parse({}).density = 1.0  # type: ignore[misc]


def test_docstrings_become_descriptions() -> None:
    assert Example.model_fields["density"].description == "Share of active entries."
