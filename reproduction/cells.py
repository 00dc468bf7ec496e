"""Cells: the places of a grid's tables, each with the training that fills it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from reproduction.grid import Block, Grid, Values, settings_of, stored_rate, variant_of
from reproduction.rates import Rates
from sparserec.errors import SettingError
from sparserec.methods import METHODS
from sparserec.recommenders import RECOMMENDERS
from sparserec.training import RunConfig, assign, build_config, merge, parse_assignment


@dataclass(frozen=True)
class Overrides:
    """What the command line changes in every cell."""

    data: str | None = None
    epochs: int | None = None
    assignments: tuple[str, ...] = ()

    @property
    def are_given(self) -> bool:
        return self != Overrides()


@dataclass(frozen=True)
class Cell:
    """One place of a table and the training that fills it."""

    grid: str
    data: str
    base: str
    density: float
    variant: str
    label: str
    seed: int
    case: str
    """What the grid varies here, in words; empty where it varies nothing."""
    priority: int = 0
    rate: str = ""
    """Where the first learning rate comes from, in words."""
    config: RunConfig | None = field(default=None, compare=False)
    problem: str | None = None
    """Why it cannot be trained."""
    search: tuple[str, str] | None = None
    """Base and variant whose search of rates comes first."""

    @property
    def setting(self) -> tuple[str, str, float]:
        return self.data, self.base, self.density


def unfold_grid(grid: Grid, rates: Rates, overrides: Overrides) -> list[Cell]:
    """Every cell of a grid, once; blocks that become the same by an override are one."""
    cells: dict[Cell, Cell] = {}
    for block in grid.blocks:
        data = (overrides.data,) if overrides.data is not None else block.data
        for combination in product(data, block.base, block.density, block.case, block.variant, block.seed):
            cell = _cell(grid, block, combination, rates, overrides)
            cells.setdefault(replace(cell, priority=0), cell)
    return list(cells.values())


def _cell(grid: Grid, block: Block, combination: tuple[Any, ...], rates: Rates, overrides: Overrides) -> Cell:
    data, base, density, case, name, seed = combination
    variant = variant_of(name)
    trained_base = variant.base or base
    values = settings_of(grid, variant, (data, trained_base, density, seed), case)
    rate, search = "its own", None
    if variant.own_rate and (stored := stored_rate(trained_base, name)) is not None:
        rate = f"searched: {stored.searched}"
        values = merge({"method_settings": {"learning_rate": stored.rate}}, values)
    elif not (block.own_rate or variant.own_rate or variant.own_recipe):
        chosen = rates.of(trained_base, name)
        rate = chosen.source
        if chosen.rate is not None:
            values = merge({"recipe": {"learning_rate": chosen.rate}}, values)
        elif overrides.are_given or not grid.searches:
            rate = "not searched: the default"
        else:
            search = chosen.search
    _override(values, overrides)
    config, problem = _configured(values, f"{grid.name}: {name} on {trained_base}")
    epochs = values.get("recipe", {}).get("epochs") if config is None else config.recipe.epochs
    shown = case.get("label", f"{epochs} epochs") if case else ""
    return Cell(
        grid.name,
        data,
        base,
        density,
        name,
        variant.label,
        seed,
        shown,
        variant.priority or block.priority,
        rate,
        config,
        problem,
        search,
    )


def _override(values: Values, overrides: Overrides) -> None:
    if overrides.epochs is not None:
        assign(values, ["recipe", "epochs"], overrides.epochs)
        if "test_epochs" in values:
            values["test_epochs"] = [overrides.epochs]
    for text in overrides.assignments:
        assign(values, *parse_assignment(text))


def _configured(values: Values, where: str) -> tuple[RunConfig | None, str | None]:
    """The configuration, or why there is none: a method or base that is not here, or a setting it does not know."""
    for kind, known in (("method", METHODS), ("base", RECOMMENDERS)):
        if values[kind] not in known:
            return None, f"{kind} {values[kind]!r} is not in this version"
    try:
        return build_config(values, where), None
    except SettingError as error:
        return None, str(error)
