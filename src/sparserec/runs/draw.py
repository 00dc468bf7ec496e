"""Figures of one run, drawn from what its folder holds.

training.png   loss and validation score over epochs
support.png    density of the user and item table, and churn, over epochs (sparse tables only)
rows.png       entries of a row against how often its user or item was seen (sparse tables only)
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from sparserec.data import Interactions
from sparserec.plots import NoPlotsError, finish_axis, new_figure, save_figure
from sparserec.progress import say
from sparserec.runs.folder import RunFolder
from sparserec.table import Shape, Table
from sparserec.training import correlation, ranks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREY = "#2a6fbb", "#d9722e", "#8a8f98"
Events = list[dict[str, Any]]


def write_figures(run: RunFolder, events: Events, table: Table, train: Interactions, quiet: bool) -> None:
    """Draw what there is data for.

    A run is not lost because a picture of it could not be drawn: that is a warning. matplotlib is an extra, so doing
    without it is nothing to warn of.
    """
    try:
        figures = {"training": training_figure(events), "support": support_figure(events)}
        if (sizes := table.row_sizes()) is not None:
            figures["rows"] = rows_figure(sizes, table.shape, train.user_counts(), train.item_counts())
        for name, figure in figures.items():
            if figure is not None:
                save_figure(figure, run.path / f"{name}.png")
    except NoPlotsError as error:
        say(f"no figures were drawn: {error}", quiet)
    except OSError as error:
        warnings.warn(f"{run.path}: the figures could not be drawn ({error})", stacklevel=2)


def training_figure(events: Events) -> Figure | None:
    """Loss of every epoch and the validation scores, phases one after the other."""
    epochs = [(at, event) for at, event in _in_sequence(events) if event["event"] == "epoch"]
    if not epochs:
        return None
    figure, (left, right) = _panels("Training")
    left.plot([at for at, _ in epochs], [event["loss"] for _, event in epochs], color=BLUE, marker=".")
    finish_axis(left, "loss", "epoch", "mean loss of the epoch")
    measured = [(at, event["valid"]) for at, event in epochs if "valid" in event]
    names = [name for name in (measured[0][1] if measured else {}) if name.startswith(("recall@", "ndcg@"))]
    for name, colour in zip(names, (BLUE, ORANGE, GREY, "black")):
        scores = [metrics[name] for _, metrics in measured]
        right.plot([at for at, _ in measured], scores, color=colour, marker="o", markersize=4, label=name)
        best = int(np.argmax(scores))
        place = {"xytext": (0, 6), "ha": "center", "textcoords": "offset points", "fontsize": 8}
        right.annotate(f"{scores[best]:.4f}", (measured[best][0], scores[best]), color=colour, **place)
    finish_axis(right, "validation" if measured else "validation (this split has none)", "epoch", "score")
    for axis in (left, right):
        _count_epochs(axis, epochs[-1][0])
    if measured:
        right.set_ylim(0, 1.15 * max(right.get_ylim()[1], 1e-6))
        right.legend(frameon=False, loc="lower right")
    return figure


def support_figure(events: Events) -> Figure | None:
    """Density of both tables where it was measured, and the share of entries exchanged by each exploration."""
    epochs = [(at, event["mask"]) for at, event in _in_sequence(events) if event.get("mask")]
    changes = [(at, event) for at, event in _in_sequence(events) if event["event"] in ("explore", "fill")]
    if not epochs:
        return None
    figure, (left, right) = _panels("Support: which entries of the table are in use")
    for side, colour in (("users", BLUE), ("items", ORANGE)):
        if f"density_{side}" not in epochs[0][1]:  # a table of items alone
            continue
        shares = [100 * mask[f"density_{side}"] for _, mask in epochs]
        left.plot([at for at, _ in epochs], shares, color=colour, marker="o", markersize=4, label=side)
    shares = [100 * mask["density"] for _, mask in epochs]
    left.plot([at for at, _ in epochs], shares, color=GREY, linestyle="--", label="both")
    finish_axis(left, "density", "epoch", "entries in use (%)")
    left.set_ylim(0, 1.1 * left.get_ylim()[1])
    left.legend(frameon=False, loc="lower left")
    for kind, colour, name in (("explore", BLUE, "exchanged"), ("fill", ORANGE, "filled")):
        chosen = [(at, event) for at, event in changes if event["event"] == kind]
        if chosen:
            # entries that became active and were not so before, of those active afterwards
            exchanged = [
                100 * (event["grown"] - event["regrown_at_once"]) / max(event["active"], 1)
                for _, event in chosen
            ]
            width = max(0.8, 0.012 * changes[-1][0])
            right.bar([at for at, _ in chosen], exchanged, color=colour, label=name, width=width)
    finish_axis(right, "churn", "epoch", "entries exchanged (%)")
    for axis in (left, right):
        _count_epochs(axis, max(epochs[-1][0], *(at for at, _ in changes), 1))
    if changes:
        right.legend(frameon=False)
    return figure


def rows_figure(sizes: np.ndarray, shape: Shape, user_counts: np.ndarray, item_counts: np.ndarray) -> Figure:
    """Row size against frequency, one dot per row, with the mean of equally frequent rows on top."""
    figure, axes = _panels("Row size against frequency")
    n_users = shape.n_users
    sides = ("users", sizes[:n_users], user_counts, BLUE), ("items", sizes[n_users:], item_counts, ORANGE)
    for axis, (name, part, counts, colour) in zip(axes, sides):
        if len(part) == 0:  # a table of items alone
            axis.set_axis_off()
            continue
        seen = counts > 0
        dot, alpha = (3, 0.25) if len(part) > 2000 else (7, 0.5)
        dots = {"linestyle": "", "marker": ".", "markersize": dot, "alpha": alpha, "markeredgewidth": 0}
        axis.plot(counts[seen], part[seen], color=colour, **dots)
        bins = np.digitize(counts[seen], np.geomspace(1, counts[seen].max() + 1, 13))
        equally = [bins == one for one in np.unique(bins)]
        at = [np.exp(np.log(counts[seen][some]).mean()) for some in equally]
        mean = [part[seen][some].mean() for some in equally]
        axis.plot(at, mean, color="black", linewidth=1.5, label="mean")
        if counts[seen].max() > 20 * counts[seen].min():
            axis.set_xscale("log")
            axis.xaxis.set_major_formatter("{x:,.0f}")
        finish_axis(axis, name, "train interactions of the row", f"entries in use (of {shape.dim})")
        pearson = correlation(part.astype(np.float64), counts.astype(np.float64))
        spearman = correlation(ranks(part), ranks(counts))
        box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8}
        text = f"Pearson {pearson:.2f}\nSpearman {spearman:.2f}"
        axis.text(0.02, 0.97, text, transform=axis.transAxes, va="top", bbox=box)
        axis.legend(frameon=False, loc="lower right")
    return figure


def _in_sequence(events: Events) -> list[tuple[int, dict[str, Any]]]:
    """(epoch counted over all phases, event): a method may train more than once."""
    before, placed = 0, []
    for event in events:
        if "epoch" in event:
            placed.append((before + event["epoch"], event))
        if event["event"] == "phase":
            before += event["epochs"]
    return placed


def _panels(title: str) -> tuple[Figure, Any]:
    figure = new_figure(9, 3.6)
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    return figure, figure.subplots(1, 2)


def _count_epochs(axis: Axes, last: int) -> None:
    """The same whole-numbered axis in every panel."""
    from matplotlib.ticker import MaxNLocator

    axis.set_xlim(0, last + max(1, 0.02 * last))
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
