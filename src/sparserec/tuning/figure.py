"""The figure of a search: what every trial scored, and the best so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparserec.plots import finish_axis, new_figure
from sparserec.tuning.outcome import Outcome, Trial

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLUE, ORANGE, GREY = "#2a6fbb", "#d9722e", "#8a8f98"


def trials_figure(outcome: Outcome) -> Figure:
    """Scores on validation in the order of the trials."""
    figure = new_figure(7, 3.6)
    axis = figure.subplots()
    finished, pruned = (
        [one for one in outcome.trials if one.state == state] for state in ("finished", "pruned")
    )
    best, so_far = float("-inf"), []
    for one in finished:
        best = max(best, one.score or 0.0)
        so_far.append(best)
    axis.step([one.number for one in finished], so_far, where="post", color=ORANGE, label="best so far")
    for trials, colour, marker, label in ((finished, BLUE, "o", "finished"), (pruned, GREY, "x", "pruned")):
        axis.plot(*_points(trials), color=colour, marker=marker, linestyle="", label=label)
    defaults = [one for one in finished if one.defaults]
    axis.plot(*_points(defaults), color="black", marker="s", linestyle="", label="defaults")
    finish_axis(axis, "Trials", "trial", f"validation {outcome.score_name}")
    axis.legend(frameon=False, loc="lower right")
    return figure


def _points(trials: list[Trial]) -> tuple[list[int], list[float]]:
    return [one.number for one in trials], [one.score or 0.0 for one in trials]
