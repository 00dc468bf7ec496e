"""Which files of a curve are worth their bytes, what is compared with what, and the figure."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from frontier import OURS, STYLES, File, compare, draw, worth_their_bytes


def file(curve: str, size: int) -> File:
    return File(curve, f"{curve} {size}", size, lambda truth, at_test: (np.empty(0), np.empty(0)), None)


def test_a_larger_file_must_be_better() -> None:
    files = [file("a", size) for size in (400, 100, 300, 200, 100)]
    assert worth_their_bytes(files, [0.4, 0.1, 0.3, 0.3, 0.2]) == [4, 3, 0]


def test_at_each_size_the_best_by_validation_are_paired() -> None:
    """Ours of .6 and .9 MB, another of .5 MB; validation prefers our smaller file, so it stands for .7 MB
    and for 1 MB.
    """
    files = [file(OURS, 600_000), file(OURS, 900_000), file("other", 500_000)]
    scores = [0.3, 0.2, 0.1]
    opened = {0: np.array([0.5, 0.7]), 1: np.array([0.9, 0.9]), 2: np.array([0.4, 0.4])}
    rows = [{"file": one.label} for one in files]
    compare(files, scores, rows, opened)
    assert "ours_against_it" not in rows[0] and "ours_against_it" not in rows[1]
    notes = rows[2]["ours_against_it"]
    assert [note["size"] for note in notes] == [0.7e6, 1.0e6, 1.4e6, 2.6e6]
    assert all(note["ours"] == f"{OURS} 600000" for note in notes)
    assert notes[0]["difference"] == pytest.approx(0.2)


def test_nothing_of_ours_is_nothing_to_compare() -> None:
    files = [file(OURS, 800_000), file("other", 500_000)]
    rows = [{"file": one.label} for one in files]
    compare(files, [0.3, 0.1], rows, {0: np.array([0.5, 0.7]), 1: np.array([0.4, 0.4])})
    assert [note["size"] for note in rows[1]["ours_against_it"]] == [1.0e6, 1.4e6, 2.6e6]


def test_figure_is_drawn(tmp_path: Path) -> None:
    rows = [
        {"data": data, "curve": curve, "bytes": size, "test": 0.1 + size / 1e8}
        for data in ("gowalla", "yelp2018")
        for curve in STYLES
        for size in (300_000, 2_000_000)
    ]
    draw(
        [*rows, {"data": "gowalla", "curve": OURS, "bytes": 5, "valid": 0.1}],
        tmp_path / "figures" / "frontier.png",
    )
    assert (tmp_path / "figures" / "frontier.png").read_bytes().startswith(b"\x89PNG")
