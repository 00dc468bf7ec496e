"""Published numbers: plain data with a source, looked up by the place of a cell."""

from __future__ import annotations

from typing import NamedTuple

from reproduction.cells import Cell
from reproduction.grid import read_stored


class Published(NamedTuple):
    """What a paper says of one cell."""

    recall: float
    ndcg: float


def source_of(group: str) -> str:
    """Where the numbers of a group are from."""
    return str(read_stored("published")[group]["source"])


def published_of(group: str | None, cell: Cell) -> Published | None:
    """The published pair of a cell's data set, base, density and variant, None where nothing is published."""
    if group is None:
        return None
    by_density = read_stored("published")[group].get(cell.data, {}).get(cell.base, {})
    for density in (f"{cell.density}", "any"):
        if cell.variant in by_density.get(density, {}):
            return Published(*by_density[density][cell.variant])
    return None
