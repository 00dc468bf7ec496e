"""The report: the paper's shape, best and second marked, answers with effect and interval, at most 300 lines."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from made_up_rows import row_of
from scipy import stats
from typer.testing import CliRunner

from reproduction.answers import THE_PAPERS, answers, correlation
from reproduction.cells import Cell, Overrides
from reproduction.entries import Entry, gather, published_of
from reproduction.grid import GRIDS, read_grid
from reproduction.jobs import Job, Place, list_jobs
from reproduction.leads import lead_of, leads_table
from reproduction.paper_figures import draw_grid
from reproduction.paper_table import MODELS, comparison_table, lengths_table, own_table
from reproduction.quality_table import quality_table
from reproduction.recorded import Found
from reproduction.rendering import MOST_LINES, Pair, Section, Table, as_html, as_markdown, marks
from reproduction.report import sections_of
from reproduction.reproduce import Request
from reproduction.sections import section_of, settings_in, settings_without
from sparserec.cli.app import build_app
from sparserec.runs import recorded_path
from sparserec.training import RunConfig

DATA_SETS = ("gowalla", "yelp2018")
RATE = Overrides(assignments=("recipe.learning_rate=0.1",))
"""Given on the command line, so that no cell waits for a search."""


def filled(tmp_path: Path, grids: list[str], scores: dict[str, float] | None) -> list[Job]:
    """Jobs of which those whose variant has a score, or all, have a made-up row."""
    place = Place(tmp_path)
    lines = []
    for number, job in enumerate(list_jobs(grids, RATE, (), place)):
        score = 0.1 + number / 1e5 if scores is None else scores.get(job.cells[0].variant)
        if job.config is not None and score is not None:
            lines.append(json.dumps(row_of(job.config, score, name=job.name)))
    place.results.mkdir(parents=True)
    place.file.write_text("\n".join(lines) + "\n")
    return list_jobs(grids, RATE, (), place)


def test_marks_by_hand() -> None:
    mark = marks({"a": 0.3, "b": 0.2, "c": 0.3, "d": 0.1})
    assert [mark(name) for name in "abcde"] == ["best", "second", "best", "", ""]
    assert marks({"a": 1.0})("a") == ""


def test_table_1_has_the_papers_shape(tmp_path: Path) -> None:
    """Seven methods at three densities and DHE, two metrics on six pairs of data set and base; missing ones blank."""
    jobs = filled(tmp_path, ["table1"], {"sparserec": 0.12, "pep": 0.13, "cerp": 0.11})
    table = comparison_table(read_grid("table1"), jobs)
    assert len(table.lines) == 3 * 7 + 1 and {len(line) for line in table.lines} == {2 + 2 * 6}
    assert table.groups == [("", 2), ("Gowalla", 6), ("Yelp2018", 6)]
    assert table.columns[2:6] == ["XSimGCL R@20", "XSimGCL N@20", "MGDCF R@20", "MGDCF N@20"]
    lines = {(line[0], line[1]): line for line in table.lines}
    sparserec, pep, bet = (lines["0.0625", name][3] for name in ("SparseRec", "PEP", "BET"))
    assert sparserec == Pair("0.1200", "0.1344", "second", "best", "3 seeds, standard deviation 0.0000")
    assert pep == Pair("0.1300", "0.1335", "best", "second", "one seed")
    assert bet == Pair("", "0.1201")
    assert lines["any", "DHE"][2] == Pair("", "0.1329")


def test_a_reduced_search_is_said_to_be_one(tmp_path: Path) -> None:
    """Below the table and in the name of the line, where the method has a row; nowhere else."""
    jobs = filled(tmp_path, ["table1"], {"sparserec": 0.12, "bet": 0.13})
    notes = comparison_table(read_grid("table1"), jobs).notes
    assert len(notes) == 1 and notes[0].startswith("BET, reduced search: 50 probes")
    detail = quality_table("", gather(jobs, read_grid("table1"), ("gowalla", "mgdcf", 0.125)))
    assert detail is not None and notes[0] in detail.notes
    assert [line[0] for line in detail.lines] == ["BET, reduced search", "SparseRec"]


def test_rows_of_our_own_stand_below(tmp_path: Path) -> None:
    """A dense table has no density and one line; what is not trained has none."""
    jobs = filled(tmp_path, ["table1"], {"dense": 0.15, "small_dense_bytes": 0.1, "sparserec": 0.12})
    table = own_table(read_grid("table1"), jobs)
    assert table is not None
    lines = [line[:2] for line in table.lines]
    assert sorted(lines) == sorted(
        [["any", "dense, all parameters"]]
        + [[density, "small dense, equal bytes"] for density in ("0.0625", "0.125", "0.25")]
    )
    assert {len(line) for line in table.lines} == {14} and table.lines[0][3] in ("0.1500", "0.1000")


def test_longer_trainings_stand_behind_those_of_table_1(tmp_path: Path) -> None:
    headline, table = read_grid("headline"), read_grid("table1")
    jobs = filled(tmp_path, ["table1", "headline"], {"sparserec": 0.12, "dense": 0.15})
    longer = lengths_table(headline, table, jobs)
    assert longer is not None
    assert longer.columns[2:] == ["10 epochs", "30 epochs", "100 epochs", "the paper's recipe", "published"]
    lines = {(line[0], line[1]): line[2:] for line in longer.lines}
    lightgcn = "gowalla, lightgcn, density 0.125"
    pair = lines[lightgcn, "SparseRec"][0]
    assert lines[lightgcn, "SparseRec"] == [pair] * 4 + ["0.1721, 0.1345"] and "0.1200" in str(pair)
    assert lines[lightgcn, "dense, all parameters"][3:] == ["", ""], "not in that recipe, not published"
    assert lengths_table(headline, table, filled(tmp_path / "bare", ["table1"], {"sparserec": 0.12})) is None


def test_a_setting_with_nothing_but_rows_of_every_density_has_no_table(tmp_path: Path) -> None:
    grid, jobs = read_grid("table1"), filled(tmp_path, ["table1"], {"dense": 0.15})
    assert settings_without(grid, jobs) == settings_in(grid, jobs) and section_of(grid, jobs).empty


def entry(tmp_path: Path, variant: str, scores: dict[int, np.ndarray], ids: np.ndarray) -> Entry:
    """Rows of some seeds with their users in the given order of ids."""
    config, file = RunConfig(base="mgdcf", method="sparserec"), tmp_path / "made.jsonl"
    found = {}
    for seed, values in scores.items():
        name = f"{variant}-{seed}"
        path = recorded_path(file, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        codes = np.rint(values * 65535).astype(np.uint16)
        np.savez(path, ids=ids, **{"int8.ndcg@20": codes})
        found[seed] = Found(row_of(config, float(values.mean()), name=name), file, None)
    cell = Cell("ablation", "gowalla", "mgdcf", 0.125, variant, variant, 0, "", config=config)
    return Entry((cell,), found, None, {"done": len(found)}, None)


def test_the_report_pairs_people_and_not_places(tmp_path: Path) -> None:
    """Users of the second are in another order: paired by place the interval would be as wide as users differ."""
    rng = np.random.default_rng(0)
    people = np.array([f"person{number:03}" for number in range(300)])
    base = rng.random(300) * 0.5
    better = {seed: base + 0.01 + 0.002 * rng.random(300) for seed in (0, 1)}
    order = rng.permutation(300)
    first = entry(tmp_path, "sparserec", better, people)
    second = entry(tmp_path, "uniform", {0: base[order], 1: base[order], 2: base[order]}, people[order])
    lead = lead_of(first, second)
    assert lead is not None and (lead.ahead, lead.seeds) == (2, 2)
    mean = (better[0] + better[1]) / 2
    interval = stats.ttest_rel(mean, base).confidence_interval(0.95)
    assert lead.margin == pytest.approx((interval.high - interval.low) / 2, rel=1e-2)
    assert lead.difference == pytest.approx((interval.high + interval.low) / 2, rel=1e-3)
    assert lead.margin < 0.001 and "ahead on 2 of 2 seeds" in str(lead)


def test_without_users_there_is_no_interval(tmp_path: Path) -> None:
    config = RunConfig(base="mgdcf", method="sparserec")
    cell = Cell("ablation", "gowalla", "mgdcf", 0.125, "sparserec", "", 0, "", config=config)
    made = [
        Entry((cell,), {0: Found(row_of(config, score), tmp_path / "x.jsonl", None)}, None, {"done": 1}, None)
        for score in (0.11, 0.1)
    ]
    lead = lead_of(*made)
    assert lead is not None and lead.margin is None and lead.share == pytest.approx(0.1)
    assert "users not recorded" in str(lead)


def test_the_questions_are_answered_from_rows_alone(tmp_path: Path) -> None:
    grids = ["table1", "ablation", "sizes"]
    nothing = answers(list_jobs(grids, RATE, (), Place(tmp_path / "nothing")))
    assert len(nothing) == 4 and all("not trained yet" in sentence for sentence in nothing)
    scores = {"sparserec": 0.12, "pep": 0.13, "cerp": 0.11, "uniform": 0.1, "instantaneous": 0.125}
    first, start, growth, sizes = answers(filled(tmp_path, grids, scores))
    assert "first in 0 of 18 settings" in first
    assert "as many bytes" not in first
    assert "+0.0200" in start and "+20.0 %" in start and "(the paper: +0.0064, +4.5 %)" in start
    assert "-0.0050" in growth and "(the paper: +0.0035, +2.4 %)" in growth
    assert "0.600 [0.593, 0.607] users" in sizes and "0.60 to 0.60 items" in sizes


def test_only_sparserec_counts_as_its_rows(tmp_path: Path) -> None:
    """The ablation's variants have its method, and a training that hardly explored is not called it."""
    scores = {"sparserec": 0.12, "uniform": 0.1, "instantaneous": 0.125, "uniform_instantaneous": 0.1}
    jobs = [job for job in filled(tmp_path, ["ablation"], scores) if job.found is not None]
    own = [job for job in jobs if job.cells[0].variant == "sparserec"]
    assert f"over all {len(own)} SparseRec rows" in answers(jobs)[3] and len(own) < len(jobs)
    seldom = replace(own[0], found=replace(own[0].found, row={**own[0].found.row, "explorations": 9}))
    assert f"over all {len(own) - 1} SparseRec rows" in answers([seldom, *own[1:]])[3]


def test_a_test_is_on_a_seed_that_both_have(tmp_path: Path) -> None:
    """Without seed 0 of the reference seed 1 is compared; a seed that one of them lacks is not counted."""
    jobs = filled(tmp_path, ["table1"], {"sparserec": 0.12, "pep": 0.13})
    setting = ("gowalla", "lightgcn", 0.125)
    entries = gather(jobs, read_grid("table1"), setting)
    own = next(one for one in entries if one.cell.variant == "sparserec")
    pep = next(one for one in entries if one.cell.variant == "pep")
    later = replace(own, found={seed: found for seed, found in own.found.items() if seed > 0})
    assert sorted(pep.found) == [0, 1, 2] and sorted(later.found) == [1, 2]
    table = quality_table("t", [later, pep])
    assert table is not None
    line = dict(zip(table.columns, next(line for line in table.lines if line[0] == "PEP")))
    assert line["seeds ahead"] == "2 of 2"


def test_a_report_is_not_lost_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    jobs = filled(tmp_path, ["table1"], {"sparserec": 0.12, "pep": 0.13})
    with pytest.warns(UserWarning, match="could not be drawn .*sparserec\\[plots\\]"):
        assert draw_grid(read_grid("table1"), jobs, tmp_path, "report") == []


def test_how_often_the_paper_has_itself_first() -> None:
    """By NDCG@20, as ours is counted, and by both metrics, as its text counts; DHE has no density and is no rival."""
    first = {"recall": 0, "ndcg": 0}
    for data, base, density in product(DATA_SETS, ("lightgcn", "mgdcf", "xsimgcl"), (0.0625, 0.125, 0.25)):
        cells = {name: Cell("table1", data, base, density, name, "", 0, "") for name in MODELS}
        known = {name: published_of("table1", cell) for name, cell in cells.items()}
        for metric in first:
            first[metric] += max(known, key=lambda name: getattr(known[name], metric)) == "sparserec"
    assert THE_PAPERS == f"the paper: {first['ndcg']} of 18, and {first['recall']} by Recall@20 too"


def test_equal_bytes_are_part_of_the_first_answer(tmp_path: Path) -> None:
    scores = {"sparserec": 0.12, "pep": 0.11, "small_dense_bytes": 0.125}
    jobs = filled(tmp_path, ["table1", "ablation", "sizes"], scores)
    first = answers(jobs)[0]
    assert "first in 18 of 18" in first
    assert "of as many bytes, which the paper does not have, it is ahead in 0 of 18" in first
    table = leads_table(read_grid("table1"), jobs)
    assert table is not None and len(table.lines) == 18
    assert len(table.columns) == sum(width for _, width in table.groups)
    line = next(line for line in table.lines if line[0] == "gowalla, mgdcf, density 0.125")
    ahead, behind = ["+0.0100", "+9.1 %", "3 of 3"], ["-0.0050", "-4.0 %", "0 of 3"]
    assert line[1:] == ["0.1200", "PEP", "1", *ahead, "+2.0 % (of DSL)", *behind]
    assert (
        leads_table(read_grid("table1"), filled(tmp_path / "alone", ["table1"], {"sparserec": 0.1})) is None
    )


def test_the_interval_of_a_correlation_by_hand() -> None:
    """atanh(.5) = .5493, 1.96 / sqrt(97) = .1990: tanh(.3503) = .3366 and tanh(.7483) = .6341."""
    assert correlation(0.5, 100) == "0.500 [0.337, 0.634]"
    assert correlation(1.0, 100) == "1.000"
    assert correlation(0.89, 40_981) == "0.890 [0.888, 0.892]"  # r has as many digits as its ends


def test_a_report_of_everything_is_short(tmp_path: Path) -> None:
    """Every cell of every grid filled: the Markdown says how many tables it leaves to the HTML."""
    jobs = filled(tmp_path, list(GRIDS), None)
    assert {job.state for job in jobs} <= {"done", "blocked"}
    sections = sections_of([read_grid(name) for name in GRIDS], jobs, [])
    text = as_markdown("T", sections)
    assert len(text.splitlines()) <= MOST_LINES
    assert "more tables are in the HTML" in text and "Settings without a row" not in text
    whole = as_html("T", sections)
    tables = sum(len(section.tables) for section in sections)
    assert whole.count("<table") == tables > 30


def test_the_page_is_one_file_and_escapes_what_it_shows() -> None:
    pair = Pair("0.2", "0.1", "best", "second", 'two "seeds"')
    table = Table(
        "t", ["density", "model", "x"], [["1", "<b>", pair]], ["`code`"], [("", 2), ("A & B", 1)], 2
    )
    page = as_html("T", [Section("s", "S <1>", ["**strong** & text"], [table])])
    assert not re.search(r'(src|href)="(?!#|data:)', page) and "{{" not in page
    assert "&lt;b&gt;" in page and "A &amp; B" in page and "S &lt;1&gt;" in page
    assert '<span class="ours best" title="two &quot;seeds&quot;">0.2</span>' in page
    assert "<strong>strong</strong> &amp; text" in page and "<code>code</code>" in page
    assert page.count("<button>") == 3
    text = as_markdown("T", [Section("s", "S", ["text"], [table])])
    assert "| 1 | <b> | **0.2**<br><u>0.1</u> |" in text and "| density | model | A & B x |" in text


def test_a_report_draws_the_curves_it_has_results_for(tmp_path: Path, drawing: None) -> None:
    """Rows of two cases of the sampling figure, made up: one point each, and the other cases stay missing."""
    place = Place(tmp_path)
    overrides = Overrides(assignments=("recipe.learning_rate=0.1",))
    jobs = list_jobs(["sampling"], overrides, ["gowalla 0.125 h"], place)
    lines = []
    for job, score in zip(jobs[:2], (0.11, 0.12)):
        assert job.config is not None
        lines.append(json.dumps(row_of(job.config, score, name=job.name)))
    place.results.mkdir()
    place.file.write_text("\n".join(lines) + "\n")
    request = Request(("sampling",), overrides, ("gowalla 0.125 h",), place)
    files = request.report(request.jobs(), tmp_path / "curve.md")
    pictures = [file for file in files if file.suffix == ".png"]
    assert [file.name for file in pictures] == ["curve-sampling-quality.png", "curve-sampling-memory.png"]
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in pictures)
    text = (tmp_path / "curve.md").read_text()
    assert "Not trained: " in text and "not trained yet" in text
    share = 40_000_000 / (4 * 128 * (29_858 + 40_981))
    assert f"| {share:.3f} |" in text and np.isclose(share, 1.103, atol=1e-3)


def test_validity_shows_the_epochs_named_beforehand(tmp_path: Path, drawing: None) -> None:
    """The curve comes with the row: folders of runs stay on the machine that trained."""
    place, overrides = Place(tmp_path), Overrides(assignments=("recipe.learning_rate=0.1",))
    only = ("validity lightgcn our",)
    (job,) = list_jobs(["validity"], overrides, only, place)
    assert job.config is not None and job.config.test_epochs == (10, 20, 40, 60, 80, 100)
    curve = {str(epoch): {"recall@20": 0.17, "ndcg@20": 0.1 + epoch / 2000} for epoch in (10, 20)}
    place.results.mkdir()
    place.file.write_text(json.dumps(row_of(job.config, 0.15, name=job.name, test_by_epoch=curve)) + "\n")
    request = Request(("validity",), overrides, only, place)
    files = request.report(request.jobs(), tmp_path / "validity.md")
    text = (tmp_path / "validity.md").read_text()
    assert "| 10 | 0.1700 | 0.1820 | 0.934 | 0.1050 | 0.1550 | 0.677 |" in text
    assert "| 20 | 0.1700 | 0.1820 | 0.934 | 0.1100 | 0.1550 | 0.710 |" in text
    assert "| at the end | 0.1875 | 0.1820 | 1.030 | 0.1500 | 0.1550 | 0.968 |" in text
    assert [file.name for file in files if file.suffix == ".png"] == ["validity-validity-curves.png"]


def test_memory_is_shown_of_settings_with_a_row_of_their_own(tmp_path: Path, drawing: None) -> None:
    """The dense row serves every density; .125 has SparseRec's beside it, and only that is a table and a panel."""
    from matplotlib.image import imread

    grid = read_grid("memory")
    jobs = [
        job if job.cells[0].variant == "dense" or job.cells[0].density == 0.125 else replace(job, found=None)
        for job in filled(tmp_path, ["memory"], {"dense": 0.1, "sparserec": 0.1})
    ]
    tables = section_of(grid, jobs).tables
    assert [table.title for table in tables] == [f"{data}, lightgcn, density 0.125" for data in DATA_SETS]
    assert [line[0] for line in tables[0].lines] == ["SparseRec", "dense, all parameters"]
    (picture,) = draw_grid(grid, jobs, tmp_path, "report")
    height, width, _ = imread(picture).shape
    assert 2 < width / height < 3, "two panels side by side, not two rows of three"


def test_training_a_part_reports_the_whole(tmp_path: Path, drawing: None) -> None:
    """`--only` decides what is trained; the report beside the rows stays that of everything."""
    only = "gowalla-lightgcn-sparserec-0.0625 seed-0"
    place = Place(tmp_path)
    request = Request.of("table1", only=(only,), place=place)
    rows = [row_of(job.config, 0.1, name=job.name) for job in request.jobs() if job.config is not None]
    place.results.mkdir()
    place.file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["reproduce", "table1", "--only", only, "--folder", str(tmp_path), "--no-time"]
    assert CliRunner().invoke(build_app(), words).exit_code == 0
    text = place.report.read_text()
    assert "## Table 1 of the paper" in text and "## Peak memory" in text
    assert re.search(rf"\n{len(Request(place=place).jobs())} trainings: .*\b{len(rows)} done", text)
    asked = tmp_path / "part.md"
    assert CliRunner().invoke(build_app(), [*words, "--report", str(asked)]).exit_code == 0
    assert f"{len(rows)} trainings: {len(rows)} done" in asked.read_text()
    assert place.report.read_text() == text
    changed = Request.of("table1", overrides=Overrides(epochs=3), only=(only,), place=place)
    assert changed.reported == changed
    small = Request.of("table1", small=True, only=(only,), place=place)
    assert small.reported.grids == small.grids and not small.reported.only
