"""config show prints what train would use, in a form that train takes back."""

import inspect
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparserec.cli import config as command
from sparserec.cli import train
from sparserec.cli.config import to_toml
from sparserec.errors import SettingError
from sparserec.training.configure import configure

NO_SETTINGS = {"run_dir", "data_dir", "resume", "threads", "quiet", "force", "warm", "dense_run", "metadata"}
"""Options of train that are no settings of the run."""
NEED_THE_DATA = {"budget", "target", "nmf_limit"}
"""Options of train that become settings once the data is read."""


def test_defaults_are_filled_in(call: Callable) -> None:
    values = tomllib.loads(call("config", "show", "gowalla", "--base", "xsimgcl").stdout)
    assert values["data"] == "gowalla" and values["recipe"]["batch_size"] == 8000
    assert values["base_settings"]["temperature"] == 0.15 and values["recipe"]["explorations"] == 20


@pytest.mark.parametrize(
    "words",
    [
        ["world"],
        ["world", "--recipe", "paper", "--epochs", "7"],
        ["world", "--method", "small_dense", "--set", "method_settings.match=bytes", "--seed", "3"],
        ["world", "--base", "mgdcf", "--set", "base_settings.self_loops=true", "--set", "read.core=5"],
    ],
)
def test_what_it_prints_is_what_train_reads(call: Callable, tmp_path: Path, words: list[str]) -> None:
    shown = call("config", "show", *words).stdout
    path = tmp_path / "settings.toml"
    path.write_text(shown, encoding="utf-8")
    assert call("config", "show", "--config", path).stdout == shown
    assert configure(path, {}, []).recipe.epochs == tomllib.loads(shown)["recipe"]["epochs"]


def test_settings_of_a_run(ask: Callable, call: Callable, runs: Path) -> None:
    assert ask("config", "show", "--run", runs / "dense")["method"] == "dense"
    assert isinstance(call("config", "show", "world", "--run", runs / "dense").exception, SettingError)


def test_a_mistyped_setting_names_the_right_one(call: Callable) -> None:
    result = call("config", "show", "world", "--set", "recipe.epoch=3")
    assert isinstance(result.exception, SettingError) and "epochs" in str(result.exception)


def test_no_setting_of_train_is_missing() -> None:
    options = set(inspect.signature(train.train).parameters)
    assert options - NO_SETTINGS - NEED_THE_DATA == set(inspect.signature(command.show).parameters) - {"run"}


_VALUES = st.one_of(
    st.booleans(), st.integers(-(2**60), 2**60), st.floats(allow_nan=False), st.text(max_size=8),
    st.lists(st.integers(0, 9), max_size=3),
)  # fmt: skip


@given(
    st.dictionaries(st.text(min_size=1, max_size=6), _VALUES | st.dictionaries(st.text(min_size=1), _VALUES))
)
def test_toml_comes_back(values: dict) -> None:
    try:
        str(values).encode()
    except UnicodeEncodeError:
        return  # lone surrogates have no form in any text file
    assert tomllib.loads(to_toml(values)) == values
