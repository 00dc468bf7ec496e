"""Figures show the numbers that the folder holds, each where its label says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sparserec.runs.draw import rows_figure, support_figure, training_figure
from sparserec.table import Shape

pytest.importorskip("matplotlib")
pytestmark = pytest.mark.usefixtures("drawing")

MASKS = [
    {"density": 0.30, "density_users": 0.20, "density_items": 0.45},
    {"density": 0.25, "density_users": 0.15, "density_items": 0.40},
]
EVENTS: list[dict[str, Any]] = [
    {"event": "epoch", "epoch": 1, "loss": 0.9, "learning_rate": 0.1, "seconds": 5.0, "parameters": 70},
    {"event": "explore", "epoch": 1, "grown": 30, "dropped": 31, "regrown_at_once": 10, "active": 80},
    {"event": "epoch", "epoch": 2, "loss": 0.5, "learning_rate": 0.05, "seconds": 9.0, "parameters": 80}
    | {"valid": {"recall@20": 0.31, "ndcg@20": 0.21, "other": 7.0}, "mask": MASKS[0]},
    {"event": "phase", "name": "search", "epochs": 2},
    {"event": "fill", "epoch": 1, "grown": 8, "regrown_at_once": 0, "active": 64},
    {"event": "epoch", "epoch": 1, "loss": 0.4, "learning_rate": 0.04, "seconds": 11.0, "parameters": 64}
    | {"valid": {"recall@20": 0.35, "ndcg@20": 0.19, "other": 8.0}, "mask": MASKS[1]},
    {"event": "phase", "name": "train", "epochs": 1},
]
"""Two phases, of two epochs and one."""


def lines_of(axis: Any) -> dict[str, list[tuple[float, float]]]:
    """Points of every line by its label."""
    return {line.get_label(): list(zip(line.get_xdata(), line.get_ydata())) for line in axis.lines}


def test_loss_and_validation() -> None:
    figure = training_figure(EVENTS)
    assert figure is not None
    left, right = figure.axes
    (loss,) = lines_of(left).values()
    assert loss == [(1, 0.9), (2, 0.5), (3, 0.4)]
    assert (left.get_title(loc="left"), left.get_ylabel()) == ("loss", "mean loss of the epoch")
    assert lines_of(right) == {"recall@20": [(2, 0.31), (3, 0.35)], "ndcg@20": [(2, 0.21), (3, 0.19)]}
    best = {text.get_text(): text.xy for text in right.texts}
    assert best == {"0.3500": (3, 0.35), "0.2100": (2, 0.21)}
    assert training_figure([]) is None


def test_density_and_churn() -> None:
    figure = support_figure(EVENTS)
    assert figure is not None
    left, right = figure.axes
    found = {name: [x for x, _ in points] for name, points in lines_of(left).items()}
    assert found == {"users": [2, 3], "items": [2, 3], "both": [2, 3]}
    heights = {name: [y for _, y in points] for name, points in lines_of(left).items()}
    assert heights["users"] == pytest.approx([20, 15])
    assert heights["items"] == pytest.approx([45, 40])
    assert heights["both"] == pytest.approx([30, 25])
    bars = {
        bar.get_label(): [(one.get_x() + one.get_width() / 2, one.get_height()) for one in bar]
        for bar in right.containers
    }
    assert bars["exchanged"] == [pytest.approx((1, 25.0))], "20 of 80"
    assert bars["filled"] == [pytest.approx((3, 12.5))], "8 of 64"
    assert support_figure([EVENTS[0]]) is None


def test_rows_against_frequency() -> None:
    """Frequency to the right, size upwards, users on the left panel and items on the right one."""
    sizes = np.array([1, 2, 4, 10, 20, 7])
    users, items = np.array([3, 0, 5]), np.array([2, 2, 9])
    left, right = rows_figure(sizes, Shape(3, 3, 32, 32), users, items).axes
    assert [axis.get_title(loc="left") for axis in (left, right)] == ["users", "items"]
    dots, means = (
        [dict(lines_of(axis))[name] for axis in (left, right)] for name in (left.lines[0].get_label(), "mean")
    )
    assert dots == [[(3, 1), (5, 4)], [(2, 10), (2, 20), (9, 7)]], "rows that were never seen are left out"
    assert [(round(x, 6), round(y, 6)) for x, y in means[0]] == [(3, 1), (5, 4)]
    assert [(round(x, 6), round(y, 6)) for x, y in means[1]] == [(2, 15), (9, 7)]
    assert left.get_ylabel() == "entries in use (of 32)"


def test_a_table_of_items_alone() -> None:
    left, right = rows_figure(np.array([1, 2]), Shape(0, 2, 8, 8), np.array([4, 4]), np.array([1, 2])).axes
    assert not left.lines and not left.axison and len(right.lines) == 2
