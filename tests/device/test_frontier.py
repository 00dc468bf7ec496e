"""Which files of a curve are worth their bytes, which the test set is opened for, what is compared with what."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import frontier as benchmark
from frontier import OURS, STYLES, File, compare, draw, frontier, worth_their_bytes
from sparserec.data import read_source

Row = dict[str, Any]
OF_BEFORE = {"size": 0.7e6, "ours": "learnt lists, an older file", "difference": 0.3, "p": 0.5}


class Truth:
    """A split of which only this is asked."""

    hash, valid, test = "abc", "valid", "test"


def row(curve: str, size: int, valid: float, **more: Any) -> Row:
    return {"data": "d", "curve": curve, "file": f"{curve} {size}", "bytes": size, "valid": valid, **more}


def file(curve: str, size: int) -> File:
    return File(curve, f"{curve} {size}", Truth(), lambda: pytest.fail("was not to be made"))


def test_a_larger_file_must_be_better() -> None:
    sizes, scores = (400, 100, 300, 200, 100), (0.4, 0.1, 0.3, 0.3, 0.2)
    chosen = worth_their_bytes([row("a", size, score) for size, score in zip(sizes, scores)])
    assert [(one["bytes"], one["valid"]) for one in chosen] == [(100, 0.2), (200, 0.3), (400, 0.4)]


def test_at_each_size_our_best_by_validation_is_paired_with_every_other_curve() -> None:
    """Lists of .6 and rows of .9 MB are ours; validation prefers the rows, so they stand from 1 MB on, also against the
    lists.
    """
    files = [file("learnt lists", 600_000), file("learnt rows", 900_000), file("other", 500_000)]
    known = {
        ("learnt lists", "learnt lists 600000"): row("learnt lists", 600_000, 0.2),
        ("learnt rows", "learnt rows 900000"): row("learnt rows", 900_000, 0.3),
        ("other", "other 500000"): row("other", 500_000, 0.1, ours_against_it=[OF_BEFORE]),
    }
    users = {
        "learnt lists": np.array([0.5, 0.7]),
        "learnt rows": np.array([0.9, 0.9]),
        "other": np.array([0.4, 0.4]),
    }
    compare(files, known, lambda one: users[one.curve])
    lists, rows, other = known.values()
    assert "ours_against_it" not in rows
    assert [note["size"] for note in lists["ours_against_it"]] == [1.0e6, 1.4e6, 2.6e6]
    notes = other["ours_against_it"]
    assert [note["size"] for note in notes] == [0.7e6, 1.0e6, 1.4e6, 2.6e6]
    assert [note["ours"] for note in notes] == ["learnt lists, learnt lists 600000"] + [
        "learnt rows, learnt rows 900000"
    ] * 3
    assert notes[0]["difference"] == pytest.approx(0.2) and notes[1]["difference"] == pytest.approx(0.5)


def test_comparisons_of_the_same_two_files_stay() -> None:
    """Neither file is given again; a note about a file of ours that is no longer the best goes."""
    kept = {"size": 0.7e6, "ours": "learnt lists, learnt lists 600000", "difference": 0.1, "p": 0.01}
    known = {
        ("learnt lists", "learnt lists 600000"): row("learnt lists", 600_000, 0.2),
        ("other", "other 500000"): row("other", 500_000, 0.1, ours_against_it=[OF_BEFORE, kept]),
    }
    compare([], known, lambda one: pytest.fail("not given"))
    assert known["other", "other 500000"]["ours_against_it"] == [kept]


def test_nothing_of_ours_is_nothing_to_compare() -> None:
    sizes = {OURS[0]: 800_000, "other": 500_000}
    files = [file(curve, size) for curve, size in sizes.items()]
    known = {one.name: row(one.curve, sizes[one.curve], 0.1) for one in files}
    compare(files, known, lambda one: np.array([0.4, 0.5]))
    assert [note["size"] for note in known[files[1].name]["ours_against_it"]] == [1.0e6, 1.4e6, 2.6e6]


def test_the_same_users_choose_whatever_their_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark, "USERS_TO_CHOOSE_BY", 5)
    found = []
    for order in (range(30), reversed(range(30))):
        pairs = [(user, item) for user in order for item in range(4)]
        train = read_source(pairs).train
        split = SimpleNamespace(train=train, valid=train)
        part = benchmark.some_users_of(split)
        found.append(sorted(set(train.user_ids.external(np.unique(part.users)).tolist())))
    assert found[0] == found[1] and len(found[0]) == 5


def test_the_test_set_is_opened_for_new_files_that_validation_chose(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark, "some_users_of", lambda split: split.valid)
    opened: list[str] = []

    class Made(File):
        def score(self, truth: Any) -> float:
            assert truth == "valid"
            return float(self.made[0]) * (0.5 if "worse" in self.label else 1.0)

        def test(self) -> np.ndarray:
            opened.append(self.label)
            return np.array([0.2, 0.4])

    def made(label: str, size: int) -> File:
        return Made("plain", label, Truth(), lambda: (size, lambda *_: pytest.fail("not asked")))  # type: ignore

    old = row("plain", 10, 10.0, test=0.25) | {"file": "old"}
    elsewhere = {"data": "other", "curve": "plain", "file": "old", "bytes": 1, "valid": 0.1}
    saved: list[list[Row]] = []
    found = frontier(
        [made("old", 10), made("new", 20), made("worse", 30)], "d", [elsewhere, old], saved.append
    )
    assert saved == [found], "before anything is compared"
    assert opened == ["new"], "old has its score, worse is not worth its bytes"
    assert [(one["file"], one.get("test")) for one in found] == [
        ("old", None),
        ("old", 0.25),
        ("new", pytest.approx(0.3)),
        ("worse", None),
    ]
    changed = [made("old", 10), Made(OURS[0], "ours", Truth(), lambda: (5, lambda *_: None))]  # type: ignore
    with pytest.raises(SystemExit, match="not the same file"):
        frontier(changed, "d", [old])


def test_figure_is_drawn(tmp_path: Path, drawing: None) -> None:
    rows = [
        {"data": data, "curve": curve, "bytes": size, "test": 0.1 + size / 1e8}
        for data in ("gowalla", "yelp2018")
        for curve in STYLES
        for size in (300_000, 2_000_000)
    ]
    draw(
        [*rows, {"data": "gowalla", "curve": OURS[0], "bytes": 5, "valid": 0.1}],
        tmp_path / "figures" / "frontier.png",
    )
    assert (tmp_path / "figures" / "frontier.png").read_bytes().startswith(b"\x89PNG")
