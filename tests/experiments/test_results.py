"""What tables and figures make of result files that hold more than runs, and of runs that lack what is drawn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sparserec.errors import SettingError
from sparserec.experiments.results import (
    draw_sizes,
    finished_names,
    markdown_table,
    read_runs,
    validation_scores,
)

RESULTS = Path(__file__).resolve().parents[2] / "results"
ROWS = [json.loads(line) for line in (RESULTS / "core.jsonl").read_text().splitlines()]


def written(folder: Path, *lines: Any) -> Path:
    path = folder / "out.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def of_tens(row: dict[str, Any]) -> dict[str, Any]:
    """The row as a run with `ks = [10]` has it."""
    test = {
        precision: {name.replace("@20", "@10"): value for name, value in metrics.items()}
        for precision, metrics in row["test"].items()
    }
    return {**row, "name": "tens", "test": test}


def of_floats(row: dict[str, Any]) -> dict[str, Any]:
    """The row as one whose quantised table was not measured."""
    return {**row, "name": "floats", "test": {"float": row["test"]["float"]}}


def test_lines_that_are_no_results_are_left_out_with_a_word(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    half = {name: value for name, value in ROWS[1].items() if name != "memory"}
    path = written(tmp_path, ROWS[0], {"file": "m.srec", "bytes": 5}, 7, ["a"], None, half, ROWS[2])
    assert [row["name"] for row in read_runs(path)] == [ROWS[0]["name"], ROWS[2]["name"]]
    assert f"{path}: 5 of 7 lines are no results of runs and are left out, line 2 is the first" in (
        capsys.readouterr().err
    )
    assert finished_names(path) == {row["name"] for row in ROWS[:3]}
    assert validation_scores(path) == {row["name"]: row["epochs"][-1]["best_score"] for row in ROWS[:3]}


def test_files_of_runs_alone_are_read_as_they_are(capsys: pytest.CaptureFixture) -> None:
    assert markdown_table(read_runs(RESULTS / "core.jsonl")) == markdown_table(ROWS)
    assert capsys.readouterr().err == ""


def test_a_table_has_a_dash_where_a_run_has_nothing(tmp_path: Path) -> None:
    memory = {**ROWS[0]["memory"], "peak": {}}
    bare = {**of_tens(ROWS[0]), "epochs": [], "bytes": {}, "memory": memory, "config": {}}
    del bare["test"]
    (row,) = read_runs(written(tmp_path, bare))
    columns = ["run", "base", "method", "seed", "int8 NDCG@20", "valid NDCG@20", "int8 MB", "peak MB (train)"]
    assert markdown_table([row], columns).splitlines()[-1] == "| tens | - | - | - | - | - | - | - |"


def test_a_figure_leaves_out_runs_without_what_it_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture, drawing: None
) -> None:
    closed = {**ROWS[1], "name": "closed", "test": {}}
    rows = [of_tens(ROWS[0]), of_floats(ROWS[0]), closed, ROWS[0], ROWS[1]]
    draw_sizes(rows, tmp_path / "some.png")
    told = capsys.readouterr().err
    assert "not drawn, without NDCG@20 of an int4 or int8 table: tens, floats\n" in told
    draw_sizes(ROWS[:2], tmp_path / "two.png")
    assert capsys.readouterr().err == ""
    assert (tmp_path / "some.png").read_bytes() == (tmp_path / "two.png").read_bytes()


def test_nothing_to_draw_is_said(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"NDCG@20 of its int4 or int8 table .* nothing to draw"):
        draw_sizes([of_tens(ROWS[0]), of_floats(ROWS[0])], tmp_path / "none.png")
    assert not (tmp_path / "none.png").exists()
