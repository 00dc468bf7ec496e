"""Grids: the paper's tables and figures as data.

A grid file has a `title`, the `question` it answers, its `kind` of table, `[defaults]` settings, and `[[block]]`
tables: lists of data sets, bases, densities, variants, seeds and cases (what a figure varies) of which every
combination is a cell, with a `priority` (higher first). `[every]` holds what blocks share. Beside the grids lie
`variants.toml` (methods with their settings), `bases.toml` (settings of a base on a data set), `rates.toml` (first
learning rates) and `published.toml`.
"""

from __future__ import annotations

import tomllib
from copy import deepcopy
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import Field

from sparserec.errors import SettingError
from sparserec.settings import Settings
from sparserec.training import merge

GRIDS = ("table1", "headline", "ablation", "intervals", "sampling", "sizes", "memory", "validity")
SMALL = "small"
"""Table 1 on a part of one data set; not among those of the paper."""
Kind = Literal["comparison", "lengths", "curve", "sizes", "memory", "curves"]
Values = dict[str, Any]


class Variant(Settings):
    """A method with its settings: one row of a table."""

    label: str
    method: str
    method_settings: Values = Field(default_factory=dict)
    base: str | None = None
    """A base of its own, whatever the setting's is."""
    any_density: bool = False
    """The density changes nothing: one training serves all of them."""
    own_rate: bool = False
    """The method has a learning rate of its own among its settings; one that was searched is in `rates.toml` too."""
    own_recipe: bool = False
    """Trained as its base is by default, whatever the recipe of the grid."""
    priority: int | None = None
    """Instead of the block's."""
    about: str | None = None
    """What is not as in its paper; stands below every table that shows it."""


class Block(Settings):
    """Cells that are trained at about the same time."""

    priority: int
    data: tuple[str, ...]
    base: tuple[str, ...]
    variant: tuple[str, ...]
    density: tuple[float, ...] = (0.125,)
    seed: tuple[int, ...] = (0,)
    case: tuple[Values, ...] = ({},)
    """Settings that a figure varies; `label` names them, `of_h` is candidate_ratio in units of (1 - density) / 2."""
    own_rate: bool = False
    """The learning rate is the recipe's or the preset's, not that of `rates.toml`."""


class Grid(Settings):
    """One table or figure of the paper."""

    name: str
    title: str
    question: str
    kind: Kind
    published: str | None = None
    """The group of published numbers that stands beside ours."""
    figure: str | None = None
    searches: bool = True
    """Whether a rate that is not known is searched first, on all of Gowalla; else the recipe's is used."""
    defaults: Values = Field(default_factory=dict)
    blocks: tuple[Block, ...]


class Rate(Settings):
    """Where a first learning rate comes from."""

    rate: float | None = Field(None, gt=0)
    searched: str | None = None
    """The rates that were tried."""
    like: str | None = None
    """The variant whose rate is used instead."""


@cache
def read_stored(name: str) -> Values:
    """One of the files beside the grids."""
    return tomllib.loads((files("reproduction") / "grids" / f"{name}.toml").read_text("utf-8"))


def read_grid(name: str) -> Grid:
    """A grid by its name."""
    if name not in (*GRIDS, SMALL):
        raise SettingError(f"unknown grid {name!r}; known: {', '.join(GRIDS)} and all")
    values = dict(read_stored(name))
    every, blocks = values.pop("every", {}), values.pop("block")
    return Grid.parse({**values, "name": name, "blocks": [{**every, **block} for block in blocks]}, name)


def variant_of(name: str) -> Variant:
    """A variant by its name."""
    stored = read_stored("variants")
    if name not in stored:
        raise SettingError(f"unknown variant {name!r}; known: {', '.join(stored)}")
    return Variant.parse(stored[name], f"variants.toml: {name}")


def stored_rate(base: str, variant: str) -> Rate | None:
    """What is written down about a variant's first learning rate on a base; `any` stands for bases without a line."""
    stored = read_stored("rates")
    for group in (base, "any"):
        if variant in stored.get(group, {}):
            return Rate.parse(stored[group][variant], f"rates.toml: {group}.{variant}")
    return None


def settings_of(
    grid: Grid, variant: Variant, place: tuple[str, str, float, int], case: Values | None = None
) -> Values:
    """Settings of a training: those of grid, base, variant and case, later ones winning."""
    data, base, density, seed = place
    case = dict(case or {})
    case.pop("label", None)
    of_h = case.pop("of_h", None)
    own = {"data": data, "base": base, "seed": seed, "method": variant.method}
    if not variant.any_density:
        own["density"] = density
    if "preset" not in case:
        own["base_settings"] = read_stored("bases").get(base, {}).get(data, {})
    shared = {key: value for key, value in grid.defaults.items() if key != "recipe" or not variant.own_recipe}
    values = merge(merge(shared, own), {"method_settings": variant.method_settings})
    if of_h is not None:
        values = merge(values, {"method_settings": {"candidate_ratio": of_h * (1.0 - density) / 2.0}})
    return deepcopy(merge(values, case))  # parts of it are those of a grid that others read too
