"""From words to a RunConfig: a TOML file, then options, then assignments key=value, later ones winning."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from sparserec.errors import SettingError
from sparserec.methods import make_method
from sparserec.recommenders import PRESETS, make_recommender
from sparserec.training.config import RunConfig
from sparserec.training.recipe import RECIPE_OF_BASE, RECIPES, default_rate

GRAPH_BASE = "lightgcn"
LIKE: dict[str, dict[str, Any]] = {"paper": {"base": "lightgcn", "method": "sparserec", "density": 0.125}}


def read_toml(path: Path) -> dict[str, Any]:
    """Values of a TOML file; a mistake names the file and the place."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingError(f"{path}: no such configuration file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingError(f"{path}: not valid TOML: {error}") from None


def parse_assignment(text: str) -> tuple[list[str], Any]:
    """`recipe.epochs=50` as (["recipe", "epochs"], 50); values are JSON where they parse as such, else text."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise SettingError(f"setting {text!r}: write it as key=value, for example recipe.epochs=50")
    try:
        return key.split("."), json.loads(value)
    except json.JSONDecodeError:
        return key.split("."), value


def assign(values: dict[str, Any], path: list[str], value: Any) -> None:
    """Set a nested value, making tables on the way."""
    for name in path[:-1]:
        below = values.setdefault(name, {})
        if not isinstance(below, dict):
            raise SettingError(f"{'.'.join(path)}: {name!r} is a value, not a group of settings")
        values = below
    values[path[-1]] = value


def expand_base(values: dict[str, Any], user_rows: bool = False) -> dict[str, Any]:
    """Without a base it is `history`; LightGCN where something is named that graph recommenders alone have.

    That is a preset, one of their recipes, or `user_rows`: a file that is to hold rows of users.
    """
    if values.get("base") is not None:
        return values
    recipe = values.get("recipe", {})
    named = recipe if isinstance(recipe, str) else recipe.get("preset")
    graph = user_rows or "preset" in values or named not in {None, *RECIPE_OF_BASE.values()}
    return {**values, "base": GRAPH_BASE if graph else RunConfig.model_fields["base"].default}


def expand_recipe(values: dict[str, Any]) -> dict[str, Any]:
    """`recipe = "paper"` and `recipe.preset` name a stored recipe; other recipe settings change it.

    Who says how many epochs, or how large batches of edges, gets that: a recipe's least number of steps is for those
    who do not.
    """
    recipe = values.get("recipe", {})
    recipe = {"preset": recipe} if isinstance(recipe, str) else dict(recipe)
    preset = recipe.pop("preset", RECIPE_OF_BASE.get(values["base"], "default"))
    if preset not in RECIPES:
        raise SettingError(f"unknown recipe {preset!r}; known: {', '.join(RECIPES)}")
    said = "epochs" in recipe or ("batch_size" in recipe and preset not in RECIPE_OF_BASE.values())
    stored = {**RECIPES[preset], **({"least_steps": 0} if said else {})}
    if preset == "default":
        stored["learning_rate"] = default_rate(values["base"])
    return {**values, "recipe": {**stored, **recipe}}


def expand_like(values: dict[str, Any]) -> dict[str, Any]:
    """`like = "paper"` is the whole configuration of SparseRec's authors in one word; what is given beside it wins.

    Settings that they chose for a data set are taken on that set, those for Gowalla on all others. A base that is not
    theirs keeps its own settings and recipe: method and density are all that can be like theirs.
    """
    values = dict(values)
    name = values.pop("like", None)
    if name is None:
        return values
    if name not in LIKE:
        raise SettingError(f"like {name!r}: unknown; known: {', '.join(LIKE)}")
    merged = merge(LIKE[name], values)
    own, theirs = f"{name}-{merged.get('data')}", PRESETS.get(merged["base"], {})
    preset = own if own in theirs else f"{name}-gowalla"
    return {"preset": preset, **merged} if preset in theirs else merged


def expand_preset(values: dict[str, Any]) -> dict[str, Any]:
    """`preset` names published settings of the base recommender; what is given beside it wins."""
    values = dict(values)
    name, base = values.pop("preset", None), values["base"]
    if name is None:
        return values
    known = PRESETS.get(base, {})
    if name not in known:
        raise SettingError(f"unknown preset {name!r} of {base}; known: {', '.join(known) or 'none'}")
    return merge(known[name], values)


def merge(under: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Settings with others on top; groups of settings are merged, not replaced."""
    merged = dict(under)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = merge(merged[key], value) if both else value
    return merged


def build_config(values: dict[str, Any], where: str = "settings", user_rows: bool = False) -> RunConfig:
    """Check everything that can be checked before data is read; `user_rows`: a file with rows of users is wanted."""
    _check_kinds(values, where)
    values = {name: value for name, value in values.items() if name != "settled"}  # a run's own
    values = expand_base(expand_like(values), user_rows)
    config = RunConfig.parse(expand_recipe(expand_preset(values)), where)
    make_recommender(config.base, config.base_settings)
    make_method(config.method, config.method_settings)
    return config


def _check_kinds(values: dict[str, Any], where: str) -> None:
    """Names must be texts before they can be looked up; a recipe is a name or a group of settings."""
    recipe = values.get("recipe", {})
    if not isinstance(recipe, str | dict):
        raise SettingError(
            f"{where}: recipe is {recipe!r}; name one ({', '.join(RECIPES)}) or set its parts (recipe.epochs=50)"
        )
    names = {name: values.get(name) for name in ("like", "preset", "base", "method")}
    if isinstance(recipe, dict):
        names["recipe.preset"] = recipe.get("preset")
    for name, value in names.items():
        if value is not None and not isinstance(value, str):
            raise SettingError(f"{where}: {name} is {value!r}, which is no name")


def resolve_config(
    file: Path | None,
    options: dict[str, Any],
    assignments: list[str],
    inherited: dict[str, Any] | None = None,
    user_rows: bool = False,
) -> RunConfig:
    """The resolved configuration of a command; `inherited` are settings of a run it goes on from.

    `user_rows`: a file that holds rows of users is wanted.
    """
    values = said_values(file, options, assignments, inherited)
    return build_config(values, str(file) if file else "command line", user_rows)


def said_values(
    file: Path | None, options: dict[str, Any], assignments: list[str], under: dict[str, Any] | None = None
) -> dict[str, Any]:
    """What a command was given of the settings, and nothing else."""
    values = (under or {}) | (read_toml(file) if file else {})
    for name, value in options.items():
        if value is not None:
            assign(values, name.split("."), value)
    for text in assignments:
        assign(values, *parse_assignment(text))
    return values
