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
from sparserec.training.config import resolve_config

NO_SETTINGS = {
    "track",
    "run_dir",
    "data_dir",
    "resume",
    "threads",
    "quiet",
    "force",
    "warm",
    "dense_run",
    "metadata",
}
NO_SETTINGS |= {"thorough", "file"}  # what is shipped
NO_SETTINGS |= {
    "final"
}  # a setting that `--set final=true` shows; what is shown is the same for both trainings
"""Options of train that are no settings of the run."""
NEED_THE_DATA = {"budget", "mode", "most_nmf_work"}
"""Options of train that become settings once the data is read."""


def test_defaults_are_filled_in(call: Callable) -> None:
    values = tomllib.loads(call("config", "show", "gowalla", "--base", "xsimgcl").stdout)
    assert values["data"] == "gowalla" and values["recipe"]["batch_size"] == 32000
    assert values["base_settings"]["temperature"] == 0.15 and values["recipe"]["explorations"] == 20


@pytest.mark.parametrize(
    "words",
    [
        ["world"],
        ["world", "--recipe", "paper", "--epochs", "7"],
        ["world", "--recipe", "fall-100"],
        ["gowalla", "--base", "lightgcn", "--preset", "published-gowalla"],
        ["world", "--method", "small_dense", "--set", "method_settings.match=bytes", "--seed", "3"],
        ["world", "--base", "mgdcf", "--set", "base_settings.self_loops=true", "--set", "read.core=5"],
    ],
)
def test_what_it_prints_is_what_train_reads(call: Callable, tmp_path: Path, words: list[str]) -> None:
    shown = call("config", "show", *words).stdout
    path = tmp_path / "settings.toml"
    path.write_text(shown, encoding="utf-8")
    assert call("config", "show", "--config", path).stdout == shown
    assert resolve_config(path, {}, []).recipe.epochs == tomllib.loads(shown)["recipe"]["epochs"]


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


def test_like_paper_is_the_papers_configuration(ask: Callable) -> None:
    gowalla, yelp, own = (
        ask("config", "show", data, "--like", "paper") for data in ("gowalla", "yelp2018", "log.csv")
    )
    for values in (gowalla, yelp, own):
        assert (values["base"], values["method"], values["dim"], values["density"]) == (
            "lightgcn",
            "sparserec",
            128,
            0.125,
        )
        assert values["recipe"]["epochs"] == 500 and values["recipe"]["learning_rate"] == 0.01
    assert [one["recipe"]["rate_decay"] for one in (gowalla, yelp, own)] == [0.995, 0.99, 0.995]
    assert [one["recipe"]["explore_every"] for one in (gowalla, yelp, own)] == [5, 7, 5]


def test_what_is_given_beside_like_wins(ask: Callable, call: Callable) -> None:
    words = ("--base", "mgdcf", "--density", "0.25", "--epochs", "3", "--set", "base_settings.layers=2")
    values = ask("config", "show", "yelp2018", "--like", "paper", *words)
    assert (values["base"], values["density"], values["recipe"]["epochs"]) == ("mgdcf", 0.25, 3)
    assert values["base_settings"]["layers"] == 2 and values["base_settings"]["edge_dropout"] == 0.5
    assert values["recipe"]["rate_decay"] == 0.995
    wrong = call("config", "show", "world", "--like", "thesis").exception
    assert isinstance(wrong, SettingError) and "thesis" in str(wrong) and "paper" in str(wrong)


def test_like_paper_with_a_base_that_the_paper_has_not(ask: Callable) -> None:
    """Method and density are theirs; settings and recipe are the base's own."""
    values = ask("config", "show", "gowalla", "--like", "paper", "--base", "history", "--density", "0.25")
    own = ask("config", "show", "gowalla", "--base", "history", "--density", "0.25")
    assert values == own and (values["method"], values["dim"]) == ("sparserec", 128)


def test_a_setting_of_the_recipe_is_pointed_there(call: Callable) -> None:
    wrong = call("config", "show", "world", "--set", "learning_rate=0.1").exception
    assert isinstance(wrong, SettingError) and "write `recipe.learning_rate=0.1`" in str(wrong)
