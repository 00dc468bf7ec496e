"""Which file is written where nobody names an encoding: the smallest good one, or the best within a budget."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparserec.encodings import encode
from sparserec.errors import SettingError
from sparserec.export import ExportOptions, draw_curve, export_run
from sparserec.export.choose import Measure, choose_good, possible_encodings, smallest_good, surely_near
from sparserec.runs.trained import Trained


def test_the_smallest_file_that_loses_next_to_nothing(plain: Trained, tmp_path: Path, drawing: None) -> None:
    """And against measuring every encoding that a file without budget may have, where more is asked for."""
    report = export_run(plain, tmp_path / "a.srec", ExportOptions())
    vectors = plain.recommender.vectors(plain.graph, plain.table)
    enough = 0.99 * report.quality["float"]["folded"]["ndcg@20"]
    assert report.quality["file"]["folded"]["ndcg@20"] >= enough
    budget = 2 * report.bytes
    bound = export_run(plain, tmp_path / "b.srec", ExportOptions(budget=budget))
    assert {"together", "neighbours", "codes"} <= {row["kind"] for row in bound.curve}
    best = max(row["quality"]["folded"]["ndcg@20"] for row in bound.curve if row["bytes"] <= budget)
    draw_curve(bound, tmp_path / "curve.png")
    assert (tmp_path / "curve.png").stat().st_size > 1000
    assert (
        bound.quality["file"]["folded"]["ndcg@20"] >= 0.98 * best
    )  # chosen on the same users, items in another order
    measure = Measure(vectors, plain.split, 0)
    scores = {}
    for one in possible_encodings(vectors):
        if one.kind in ("int", "gaps"):
            scores[one] = measure.point(one, encode(vectors, one))
    best = max(scores.values(), key=lambda point: point.score)
    measure.__dict__["float_users"] = best.ndcg  # more than the float vectors have
    good = [point.bytes for point in scores.values() if surely_near(point.ndcg, best.ndcg)]
    assert min(good) > min(point.bytes for point in scores.values()), "nothing to choose between"
    found = choose_good(smallest_good(measure, True), measure)
    assert surely_near(found.ndcg, best.ndcg) and found.bytes <= 1.2 * min(good)
    assert (found.bytes, found.score) == (scores[found.encoding].bytes, scores[found.encoding].score)


def test_lists_of_the_log_are_searched_for_only_where_a_file_may_hold_them(
    plain: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "sparserec.encodings.cooccurrence.choose_lists", lambda *_: pytest.fail("searched for nothing")
    )
    user = plain.split.train.user_ids.external([5])[0]
    for options in (ExportOptions(mode="personal", user=user, budget=20_000), ExportOptions()):
        export_run(plain, tmp_path / "m.srec", options)


def test_a_larger_budget_never_gives_a_worse_file(of_histories: Trained, tmp_path: Path) -> None:
    """A file with vectors in it, from hardly any room to more than enough; on validation, as the report says."""
    scores = []
    user = of_histories.split.train.user_ids.external([5])[0]
    for budget in (5_700, 6_000, 7_000, 20_000):
        options = ExportOptions(mode="personal", user=user, budget=budget)
        report = export_run(of_histories, tmp_path / "m.srec", options)
        assert report.bytes <= budget
        scores.append(report.quality["file"]["folded"]["ndcg@20"])
    assert scores == sorted(scores), "see test_prefer.py for budgets that matter more"


def test_a_budget_is_kept_or_refused(plain: Trained, tmp_path: Path) -> None:
    loose = export_run(plain, tmp_path / "a.srec", ExportOptions(budget=100_000))
    budget = loose.bytes + 800
    assert export_run(plain, tmp_path / "b.srec", ExportOptions(budget=budget)).bytes <= budget
    with pytest.raises(SettingError, match="smallest file has") as caught:
        export_run(plain, tmp_path / "c.srec", ExportOptions(budget=500))
    assert "titles and tags" not in str(caught.value), "this run has none to leave out"
