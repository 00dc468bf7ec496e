"""Figures drawn without a display.

matplotlib is an extra (`pip install 'sparserec[plots]'`); only this file asks for it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sparserec.errors import SparserecError
from sparserec.files import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class NoPlotsError(SparserecError):
    """matplotlib is not installed."""

    def __init__(self) -> None:
        super().__init__("figures need matplotlib: pip install 'sparserec[plots]'")


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of this size in inches."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise NoPlotsError from None
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def finish_axis(axis: Axes, title: str, x: str, y: str) -> None:
    """Title, names of both axes, and no more lines than needed."""
    axis.set_title(title, loc="left", fontsize=10)
    axis.set_xlabel(x)
    axis.set_ylabel(y)
    axis.grid(alpha=0.25)
    axis.set_axisbelow(True)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)


def save_figure(figure: Figure, path: Path) -> Path:
    """Write a figure as PNG."""
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=130, format="png")
    return path
