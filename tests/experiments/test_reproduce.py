"""Every cell is listed, a recorded row fills the cell of the same settings, and two cells are trained and reported."""

from __future__ import annotations

import fcntl
import json
import shutil
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from sparserec.cli.app import build_app
from sparserec.errors import SettingError
from sparserec.experiments.agreement import rank_agreement
from sparserec.experiments.cells import Cell, Overrides
from sparserec.experiments.entries import Entry
from sparserec.experiments.grid import GRIDS, read_grid, read_stored
from sparserec.experiments.hours import Stopwatch, with_hours
from sparserec.experiments.jobs import Place, list_jobs, to_train
from sparserec.experiments.published import published_of
from sparserec.experiments.rates import Rates, search_config
from sparserec.experiments.recorded import Found, identity, read_recorded
from sparserec.experiments.reproduce import Request
from sparserec.methods import METHODS
from sparserec.training.config import RunConfig

RESULTS = Path(__file__).resolve().parents[2] / "results"


def reproduce(*words: object) -> Any:
    result = CliRunner().invoke(build_app(), ["reproduce", *(str(word) for word in words), "--json"])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0
    return json.loads(result.stdout[result.stdout.index("{") :])


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("everything")
    return reproduce("all", "--dry-run", "--no-time", "--folder", folder)["trainings"]


def cells_of(trainings: list[dict[str, Any]], grid: str) -> list[dict[str, Any]]:
    return [cell for one in trainings for cell in one["cells"] if cell["grid"] == grid]


def test_all_lists_every_cell(everything: list[dict[str, Any]]) -> None:
    table = cells_of(everything, "table1")
    variants = read_grid("table1").blocks[0].variant
    wanted = product(
        ("gowalla", "yelp2018"), ("lightgcn", "mgdcf", "xsimgcl"), (0.0625, 0.125, 0.25), variants
    )
    assert {(cell["data"], cell["base"], cell["density"], cell["variant"]) for cell in table} == set(wanted)
    assert {"sparserec", "dsl", "pep", "cerp", "dhe", "bet", "ciess", "small_dense"} < set(variants)
    numbers = {grid: len(cells_of(everything, grid)) for grid in GRIDS}
    assert numbers == {
        "table1": 2 * 3 * 3 * 13, "headline": 15 + 15 + 2 + 2 + 1, "ablation": 6 + 4 + 4, "intervals": 2 * 3 * 5,
        "sampling": 2 * 3 * 5, "sizes": 2 * 2, "memory": 2 * 3 * 4, "validity": 3,
    }  # fmt: skip
    names = [one["name"] for one in everything]
    assert len(set(names)) == len(names)


def test_grids_name_only_known_settings(everything: list[dict[str, Any]]) -> None:
    """What cannot be built names a method that this version does not have; anything else is a mistake in a grid."""
    methods = {variant["method"] for variant in read_stored("variants").values()} - set(METHODS)
    for one in everything:
        if one["state"] == "blocked":
            assert one["problem"] in {f"method {name!r} is not in this version" for name in methods}
    assert all(one["priority"] > 0 for one in everything)


def test_priorities_follow_the_order_of_trainings(everything: list[dict[str, Any]]) -> None:
    """Ablation, headline, longer headline, densities, other bases, figures, Yelp2018, the paper's recipe, validity."""

    def first(**wanted: object) -> int:
        for at, one in enumerate(everything):
            if any(all(cell[name] == value for name, value in wanted.items()) for cell in one["cells"]):
                return at
        raise AssertionError(wanted)

    order = [
        first(grid="ablation", variant="uniform"),
        first(grid="headline", variant="static", case="10 epochs", seed=1),
        first(grid="headline", case="30 epochs", variant="static"),
        first(grid="headline", case="100 epochs"),
        first(grid="headline", base="mgdcf"),
        first(grid="table1", density=0.25, base="lightgcn", variant="small_dense"),
        first(grid="table1", density=0.125, base="mgdcf", variant="small_dense"),
        first(grid="table1", density=0.25, base="xsimgcl", variant="small_dense"),
        first(grid="intervals"),
        first(data="yelp2018", grid="table1"),
        first(case="the paper's recipe"),
        first(grid="validity"),
    ]
    assert order == sorted(order)


@pytest.mark.parametrize(
    ("group", "data", "base", "density", "variant", "recall", "ndcg"),
    [
        ("table1", "gowalla", "lightgcn", 0.125, "sparserec", 0.1721, 0.1345),
        ("table1", "gowalla", "mgdcf", 0.125, "sparserec", 0.1904, 0.1497),
        ("table1", "gowalla", "xsimgcl", 0.0625, "pep", 0.1731, 0.1335),
        ("table1", "yelp2018", "mgdcf", 0.125, "bet", 0.0944, 0.0802),
        ("table1", "yelp2018", "lightgcn", 0.25, "small_dense", 0.0819, 0.0680),
        ("table1", "yelp2018", "xsimgcl", 0.25, "dhe", 0.0725, 0.0450),
        ("ablation", "gowalla", "mgdcf", 0.125, "uniform_instantaneous", 0.1754, 0.1386),
        ("ablation", "yelp2018", "mgdcf", 0.125, "instantaneous", 0.0902, 0.0770),
        ("validity", "yelp2018", "xsimgcl", 0.125, "dense", 0.0723, 0.0604),
    ],
)
def test_published_numbers_are_the_papers(
    group: str, data: str, base: str, density: float, variant: str, recall: float, ndcg: float
) -> None:
    cell = Cell("table1", data, base, density, variant, "", 0, "")
    assert published_of(group, cell) == (recall, ndcg)


def test_nothing_is_published_for_our_own_rows() -> None:
    assert (
        published_of("table1", Cell("table1", "gowalla", "lightgcn", 0.125, "magnitude", "", 0, "")) is None
    )
    assert published_of("table1", Cell("table1", "world", "lightgcn", 0.125, "sparserec", "", 0, "")) is None


def test_kendalls_tau_by_hand() -> None:
    """Four methods, one pair of six in the other order: (5 - 1) / 6. What only one side has does not count."""
    published = {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0, "nobody": 9.0}
    found = rank_agreement({"a": 40.0, "b": 20.0, "c": 30.0, "d": 10.0, "ours": 1.0}, published)
    assert found is not None and found.n == 4
    assert found.tau == pytest.approx(4 / 6)
    assert rank_agreement({"a": 1.0, "ours": 2.0}, published) is None


def row_of(config: RunConfig, score: float = 0.05, **more: Any) -> dict[str, Any]:
    values = config.model_dump(mode="json")
    metrics = {"recall@20": 0.1, "ndcg@20": score, "coverage@20": 0.2}
    return {
        "name": "row", "config": values, "base_settings": values["base_settings"], "epochs": [{"best_score": score}],
        "method_settings": values["method_settings"], "test": {"float": metrics, "int8": metrics}, **more,
    }  # fmt: skip


def test_recorded_rows_fill_cells_of_the_same_settings(tmp_path: Path) -> None:
    """Rows of ours from before: the dense training counts, SparseRec's does not, which explored five times in it."""
    shutil.copytree(RESULTS, tmp_path / "results")
    found = read_recorded(tmp_path / "results", tmp_path / "runs")
    assert "dense-searched" in {one.name for one in found.values()}
    assert "sparserec-.125-searched" not in {one.name for one in found.values()}
    jobs = list_jobs(["headline"], Overrides(), ["lightgcn 30-epochs seed-0 dense-30"], Place(tmp_path))
    assert [(job.state, job.found.name if job.found else None) for job in jobs] == [
        ("done", "dense-searched")
    ]
    assert to_train(jobs, Place(tmp_path)) == []


def test_of_equal_rows_the_one_that_counted_its_explorations_stands(tmp_path: Path) -> None:
    config = RunConfig(data="gowalla", base="lightgcn")
    for name, more in (("a", {}), ("b", {"explorations": 20}), ("c", {"explorations": 21})):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row_of(config, **more)) + "\n")
    (found,) = read_recorded(tmp_path, tmp_path / "runs").values()
    assert found.file.name == "b.jsonl"


def test_identity_holds_what_decides_a_result() -> None:
    base = RunConfig(data="gowalla", base="lightgcn", method="dense")
    same = [{"open_test": False}, {"data": "gowalla-lightgcn"}, {"base_settings": {"layers": 3}}]
    other = [{"seed": 1}, {"density": 0.25}, {"base_settings": {"layers": 2}}, {"protocol": "public"}]
    for changes in same:
        assert identity(base) == identity(base.model_copy(update=changes)), changes
    for changes in other:
        assert identity(base) != identity(base.model_copy(update=changes)), changes
    assert identity(base) != identity(
        base.model_copy(update={"recipe": base.recipe.model_copy(update={"epochs": 31})})
    )


@pytest.mark.parametrize(("explored", "called"), [(10, True), (9, False), (None, False)])
def test_what_hardly_explored_is_not_called_sparserec(explored: int | None, called: bool) -> None:
    config = RunConfig(base="lightgcn", method="sparserec")
    cell = Cell("table1", "gowalla", "lightgcn", 0.125, "sparserec", "SparseRec", 0, "", config=config)
    found = Found(row_of(config, explorations=explored), Path("x.jsonl"), None)
    entry = Entry((cell,), {0: found}, None, {"done": 1}, None)
    assert entry.is_sparserec == called
    assert (entry.label == "SparseRec") == called
    assert called or entry.label.startswith("not SparseRec")


def test_a_recorded_search_gives_the_rate(tmp_path: Path) -> None:
    config = search_config("mf", "small_dense")
    assert config is not None
    assert Rates([]).of("mf", "small_dense").rate is None
    rows = []
    for rate, score in ((0.16, 0.06), (0.04, 0.05)):
        recipe = config.recipe.model_copy(update={"learning_rate": rate})
        rows.append(Found(row_of(config.model_copy(update={"recipe": recipe}), score), tmp_path, None))
    rates = Rates(rows)
    assert rates.of("mf", "small_dense").rate == 0.16
    assert rates.of("mf", "small_dense_bytes").rate is None
    assert Rates([]).of("lightgcn", "uniform") == Rates([]).of("lightgcn", "uniform")
    assert Rates([]).of("lightgcn", "uniform").rate == Rates([]).of("lightgcn", "sparserec").rate


def test_a_cell_without_a_rate_waits_for_its_search(tmp_path: Path) -> None:
    """The queue gets the short trainings first; with their scores, the best two in full; never the cell itself."""
    place = Place(tmp_path)
    jobs = list_jobs(["table1"], Overrides(), ["gowalla mgdcf 0.25 dsl"], place)
    assert [job.name.rsplit("-", 1)[0] for job in jobs if not job.cells] == ["search-mgdcf-dsl"]
    shorts = to_train(jobs, place)
    assert [run.name.split("@")[1] for run in shorts] == [
        "0.04-short",
        "0.08-short",
        "0.16-short",
        "0.32-short",
    ]
    assert all(run.settings["open_test"] is False and run.settings["recipe"]["epochs"] == 3 for run in shorts)
    place.file.parent.mkdir()
    scores = dict(zip((run.name for run in shorts), (0.01, 0.03, 0.04, 0.02)))
    lines = [json.dumps({"name": name, "epochs": [{"best_score": score}]}) for name, score in scores.items()]
    place.file.write_text("\n".join(lines) + "\n")
    later = [run.name.split("@")[1] for run in to_train(jobs, place) if run.name not in scores]
    assert later == ["0.16", "0.08"]


def test_a_running_training_is_seen_by_its_lock(tmp_path: Path) -> None:
    place, only = Place(tmp_path), ["gowalla lightgcn 0.125 seed-1 static-0.125-10-epochs"]
    (job,) = list_jobs(["headline"], Overrides(), only, place)
    assert job.state == "waiting"
    place.run(job.name).mkdir(parents=True)
    (place.run(job.name) / "config.json").write_text("{}")
    (place.run(job.name) / "events.jsonl").write_text(
        '{"event": "epoch"}\n{"event": "explore"}\n{"event": "epoch"}\n{"ev'
    )
    (again,) = list_jobs(["headline"], Overrides(), only, place)
    assert (again.state, again.epochs_done) == ("stopped", 2)
    with place.log(job.name).open("w") as log:
        fcntl.flock(log, fcntl.LOCK_EX)
        (running,) = list_jobs(["headline"], Overrides(), only, place)
        assert running.state == "running"


def test_kinds_of_cells_are_timed_once(tmp_path: Path) -> None:
    overrides = Overrides("world", 2, ("dim=8",))
    jobs = list_jobs(["table1"], overrides, ["small_dense", "-dense"], Place(tmp_path))
    stopwatch = Stopwatch()
    timed = [job for job in with_hours(jobs, stopwatch) if job.config is not None]
    assert len(timed) > 10 and all(job.seconds is not None and job.seconds > 0 for job in timed)
    # small_dense twice and dense where methods are timed, dense on the two other bases
    assert len(stopwatch.known) == 5
    half = with_hours([timed[0], timed[0].__class__(**{**vars(timed[0]), "epochs_done": 1})], stopwatch)
    assert half[1].seconds == pytest.approx((half[0].seconds or 0.0) / 2)


def test_two_cells_are_trained_and_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARSEREC_CACHE", str(tmp_path / "cache"))
    words = (
        "table1", "--data", "world", "--epochs", 1, "--set", "dim=8", "--folder", tmp_path, "--no-time",
        "--only", "world-lightgcn-sparserec-0.125", "--only", "lightgcn 0.125 small_dense_bytes",
    )  # fmt: skip
    told = reproduce(*words, "--threads", 1)
    states = {one["cells"][0]["variant"]: one["state"] for one in told["trainings"]}
    assert states == {"sparserec": "done", "small_dense_bytes": "done"}
    rows = (tmp_path / "results" / "reproduce.jsonl").read_text().splitlines()
    record = next(row for row in map(json.loads, rows) if row["config"]["method"] == "sparserec")
    events = (tmp_path / "runs" / "reproduce" / record["name"] / "events.jsonl").read_text()
    assert record["explorations"] == events.count('"event": "explore"') > 0
    text = (tmp_path / "results" / "reproduce.md").read_text()
    page = (tmp_path / "results" / "reproduce.html").read_text()
    score = f"{record['test']['int8']['ndcg@20']:.4f}"
    for report in (text, page):
        assert score in report and "popular tenth" in report and "small dense, equal bytes" in report
    again = reproduce(*words)
    assert (tmp_path / "results" / "reproduce.jsonl").read_text().splitlines() == rows
    assert again["failed"] == 0


def test_a_missing_cell_is_shown_beside_its_published_value(tmp_path: Path) -> None:
    shutil.copytree(
        RESULTS, tmp_path / "results", ignore=shutil.ignore_patterns("dynamics.jsonl", "reproduce.jsonl")
    )
    told = reproduce(
        "headline", "--dry-run", "--no-time", "--folder", tmp_path, "--report", tmp_path / "paper.html"
    )
    assert {Path(file).name for file in told["report"]} >= {"paper.md", "paper.html"}
    text = (tmp_path / "paper.md").read_text()
    line = next(line for line in text.splitlines() if line.startswith("| SparseRec |"))
    assert "missing" in line and "0.1345" in line
    assert "| magnitude, fine-tuned | 0.15" in text


def test_mistakes_name_what_is_known(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="'table3': must be one of table1, "):
        Request.of("table3")
    with pytest.raises(SettingError, match="has the words of nonsense"):
        Request.of("ablation", only=("nonsense",), place=Place(tmp_path)).jobs()


def test_a_report_draws_the_curves_it_has_results_for(tmp_path: Path) -> None:
    """Rows of two cases of the sampling figure, made up: one point each, and the other cases stay missing."""
    place = Place(tmp_path)
    overrides = Overrides(assignments=("recipe.learning_rate=0.1",))
    jobs = list_jobs(["sampling"], overrides, ["gowalla 0.125 h"], place)
    lines = []
    for job, score in zip(jobs[:2], (0.11, 0.12)):
        assert job.config is not None
        memory = {"formula": 40_000_000, "ledger": {"values": 5}, "peak": {"train": 7}}
        data = {"users": 29_858, "items": 40_981}
        row = row_of(job.config, score, memory=memory, data=data, explorations=20)
        lines.append(json.dumps({**row, "name": job.name}))
    place.results.mkdir()
    place.file.write_text("\n".join(lines) + "\n")
    request = Request(("sampling",), overrides, ("gowalla 0.125 h",), place)
    files = request.report(request.jobs(), tmp_path / "curve.md")
    pictures = [file for file in files if file.suffix == ".png"]
    assert [file.name for file in pictures] == ["curve-sampling-quality.png", "curve-sampling-memory.png"]
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in pictures)
    text = (tmp_path / "curve.md").read_text()
    assert text.count("| missing: 1 waiting | missing |") == 3
    share = 40_000_000 / (4 * 128 * (29_858 + 40_981))
    assert f"| {share:.3f} |" in text and np.isclose(share, 1.103, atol=1e-3)
