"""Every cell is listed, a recorded row fills the cell of the same settings, and two cells are trained and reported."""

from __future__ import annotations

import fcntl
import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from made_up_rows import row_of
from typer.testing import CliRunner

from reproduction.cells import Cell, Overrides, unfold_grid
from reproduction.entries import Entry, published_of
from reproduction.grid import GRIDS, read_grid, read_stored, stored_rate, variant_of
from reproduction.jobs import Place, list_jobs, to_train
from reproduction.paper_table import MODELS
from reproduction.quality_table import rank_agreement
from reproduction.rates import FINISH, RATES, Rates, search_config
from reproduction.recorded import Found, identity, identity_of_row, read_recorded
from reproduction.reproduce import Request
from sparserec.cli.app import build_app
from sparserec.errors import SettingError
from sparserec.methods import METHODS
from sparserec.methods.sparserec import ITEM_STARTS
from sparserec.planning import settle_config
from sparserec.training import build_config
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
    """The paper's 18 settings with each of its methods; every combination of every block, once."""
    table = {
        (cell["data"], cell["base"], cell["density"], cell["variant"])
        for cell in cells_of(everything, "table1")
    }
    bases, methods = ("lightgcn", "mgdcf", "xsimgcl"), (*MODELS, "dhe")
    assert table >= set(product(("gowalla", "yelp2018"), bases, (0.0625, 0.125, 0.25), methods))
    for grid in GRIDS:
        asked = {
            (*place, case.get("label", ""))
            for block in read_grid(grid).blocks
            for *place, case in product(
                block.data, block.base, block.density, block.variant, block.seed, block.case
            )
        }
        cells = cells_of(everything, grid)
        names = ("data", "base", "density", "variant", "seed")
        assert {tuple(cell[name] for name in names) for cell in cells} == {place[:5] for place in asked}
        assert len(cells) >= len(asked)
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
    """Density .125 of Gowalla, base by base and then more seeds, the ablation, longer trainings, the paper's recipe,
    other densities, figures, Yelp2018, more seeds of other densities, validity, and then the searches.
    """

    def first(**wanted: object) -> int:
        for at, one in enumerate(everything):
            if any(all(cell[name] == value for name, value in wanted.items()) for cell in one["cells"]):
                return at
        raise AssertionError(wanted)

    order = [
        *(
            first(grid="table1", density=0.125, base=base, variant="dsl")
            for base in ("lightgcn", "xsimgcl", "mgdcf")
        ),
        first(grid="table1", variant="dsl", seed=1),
        first(grid="ablation", variant="uniform"),
        first(grid="headline", case="100 epochs"),
        first(case="the paper's recipe"),
        first(grid="table1", density=0.25, variant="small_dense"),
        first(grid="intervals"),
        first(grid="sampling"),
        first(data="yelp2018", grid="table1", variant="small_dense"),
        first(grid="table1", density=0.25, variant="small_dense_bytes", seed=1),
        first(grid="validity"),
        first(grid="table1", density=0.25, variant="bet"),
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


def test_what_one_request_changes_is_not_in_the_next(tmp_path: Path) -> None:
    def names(overrides: Overrides) -> list[str]:
        return [job.name for job in list_jobs(["ablation"], overrides, (), Place(tmp_path))]

    before = names(Overrides())
    changed = names(
        Overrides(epochs=3, assignments=("recipe.learning_rate=0.1", "method_settings.init=uniform"))
    )
    assert changed != before == names(Overrides())


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


def test_recorded_rows_fill_cells_of_the_same_settings(tmp_path: Path) -> None:
    """A row under any name and in any file; one of another number of explorations, rate or seed is another row."""
    place, only = Place(tmp_path), ["ablation lightgcn 0.125 seed-0 -sparserec- sparserec"]
    (job, *_) = [job for job in list_jobs(["ablation"], Overrides(), only, place) if job.config is not None]
    assert job.config is not None and job.state == "waiting"
    place.results.mkdir()
    recipe = job.config.recipe
    others = [
        job.config.model_copy(update={"recipe": recipe.model_copy(update={"explorations": 5})}),
        job.config.model_copy(update={"recipe": recipe.model_copy(update={"learning_rate": 0.011})}),
        job.config.model_copy(update={"seed": 7}),
    ]
    lines = [json.dumps(row_of(config, name=f"other-{at}")) for at, config in enumerate(others)]
    (place.results / "elsewhere.jsonl").write_text("\n".join(lines) + "\n")
    assert state_of(job.name, place)[0] == "waiting"
    (place.results / "found.jsonl").write_text(json.dumps(row_of(job.config, name="some name")) + "\n")
    assert state_of(job.name, place) == ("done", "some name")


def state_of(name: str, place: Place) -> tuple[str, str | None]:
    """State of a training of the ablation, and the row that fills it."""
    jobs = list_jobs(["ablation"], Overrides(), (), place)
    job = next(job for job in jobs if job.name == name)
    trained = {run.name for run in to_train(jobs, place)}
    assert (name in trained) == (job.state != "done")
    return job.state, job.found.name if job.found else None


def test_what_explored_too_seldom_and_did_not_count_it_is_left_out(tmp_path: Path) -> None:
    """Rows of ours from before the recipe counted explorations: the dense one stands, SparseRec's does not."""
    found = read_recorded(RESULTS, tmp_path / "runs")
    assert "dense-searched" in {one.name for one in found.values()}
    assert "sparserec-.125-searched" not in {one.name for one in found.values()}


def test_of_equal_rows_the_one_that_counted_its_explorations_stands(tmp_path: Path) -> None:
    config = RunConfig(data="gowalla", base="lightgcn")
    for name, more in (
        ("a", {"explorations": None}),
        ("b", {"explorations": 20}),
        ("c", {"explorations": 21}),
    ):
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


def test_the_history_row_is_what_is_trained_by_default() -> None:
    assert variant_of("history").method_settings == ITEM_STARTS[0]
    default = settle_config(build_config({"data": "gowalla"}), None).config
    assert default.method_settings == ITEM_STARTS[0]


def test_what_validation_chose_does_not_make_a_row_a_stranger() -> None:
    """The temperature of base history is open in a cell and in the row what was best."""
    config = RunConfig(data="gowalla", base="history", method="static")
    row = row_of(config, explorations=0)
    chosen = row | {"base_settings": {"temperature": 0.3}, "temperatures": {"0.2": 0.1, "0.3": 0.2}}
    given = row | {"base_settings": {"temperature": 0.3}}
    assert identity_of_row(chosen) == identity(config) != identity_of_row(given)


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
        trained = config.model_copy(update={"recipe": recipe})
        rows.append(Found(row_of(trained, score, name="search-mf-small_dense=0.1"), tmp_path, None))
    alone = Found(row_of(trained, 0.07), tmp_path, None)
    assert Rates([alone]).of("mf", "small_dense").rate is None, "not compared with any other rate"
    rates = Rates([*rows, alone])
    assert rates.of("mf", "small_dense").rate == 0.16
    assert rates.of("mf", "small_dense_bytes").rate is None
    assert Rates([]).of("lightgcn", "uniform") == Rates([]).of("lightgcn", "uniform")
    assert Rates([]).of("lightgcn", "uniform").rate == Rates([]).of("lightgcn", "sparserec").rate


def test_a_methods_own_rate_goes_into_its_settings() -> None:
    """DHE trains a network: the recipe's rate is for tables, a searched one of its own is not the recipe's."""
    cells = {
        cell.base: cell
        for cell in unfold_grid(read_grid("table1"), Rates([]), Overrides())
        if cell.variant == "dhe_small"
    }
    for base, cell in cells.items():
        stored, config = stored_rate(base, "dhe_small"), cell.config
        assert stored is not None and config is not None
        assert config.method_settings["learning_rate"] == stored.rate != config.recipe.learning_rate
        assert cell.rate.startswith("searched: ")


def test_the_row_of_a_search_stands_before_an_equal_one_of_another_name(tmp_path: Path) -> None:
    """Else a rate that was searched would be unknown wherever somebody had trained it before."""
    config = search_config("mf", "small_dense")
    assert config is not None
    for file, name in (("a", "trained-before"), ("b", "search-mf-small_dense-0a1b2c=0.12")):
        write_row(tmp_path / f"{file}.jsonl", row_of(config, 0.06, name=name))
    (tmp_path / "runs" / "b" / "search-mf-small_dense-0a1b2c@0.12").mkdir(parents=True)
    (found,) = read_recorded(tmp_path, tmp_path / "runs").values()
    assert found.name.startswith("search-") and found.folder is not None
    assert Rates([found]).of("mf", "small_dense").rate == config.recipe.learning_rate


def write_row(path: Path, row: dict[str, Any]) -> None:
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")


def test_a_cell_without_a_rate_waits_for_its_search(tmp_path: Path) -> None:
    """The queue gets the short trainings first; with their scores, the best two in full; never the cell itself."""
    place = Place(tmp_path)
    jobs = list_jobs(["table1"], Overrides(), ["gowalla mgdcf 0.25 dsl"], place)
    assert [job.name.rsplit("-", 1)[0] for job in jobs if not job.cells] == ["search-mgdcf-dsl"]
    shorts = to_train(jobs, place)
    assert [run.name.split("@")[1] for run in shorts] == [f"{rate:g}-short" for rate in RATES]
    assert all(run.settings["open_test"] is False and run.settings["recipe"]["epochs"] == 3 for run in shorts)
    place.file.parent.mkdir()
    scores = dict(zip((run.name for run in shorts), (0.01, 0.03, 0.04, 0.02)))
    lines = [json.dumps({"name": name, "epochs": [{"best_score": score}]}) for name, score in scores.items()]
    place.file.write_text("\n".join(lines) + "\n")
    later = [run.name.split("@")[1] for run in to_train(jobs, place) if run.name not in scores]
    assert later == [f"{rate:g}" for rate in (RATES[2], RATES[1])[:FINISH]]


def test_a_running_training_is_seen_by_its_lock(tmp_path: Path) -> None:
    place, only = Place(tmp_path), ["gowalla mgdcf 0.125 seed-1 -sparserec- instantaneous"]
    (job, *_) = list_jobs(["ablation"], Overrides(), only, place)
    assert job.state == "waiting"
    place.run(job.name).mkdir(parents=True)
    (place.run(job.name) / "config.json").write_text("{}")
    (place.run(job.name) / "events.jsonl").write_text(
        '{"event": "epoch"}\n{"event": "explore"}\n{"event": "epoch"}\n{"ev'
    )
    (again, *_) = list_jobs(["ablation"], Overrides(), only, place)
    assert (again.state, again.epochs_done) == ("stopped", 2)
    with place.log(job.name).open("w") as log:
        fcntl.flock(log, fcntl.LOCK_EX)
        (running, *_) = list_jobs(["ablation"], Overrides(), only, place)
        assert running.state == "running"


def test_two_cells_are_trained_and_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARSEREC_CACHE", str(tmp_path / "cache"))
    words = (
        "table1", "--data", "world", "--epochs", 1, "--set", "dim=8", "--folder", tmp_path, "--no-time",
        "--only", "world-lightgcn-sparserec-0.125 seed-0", "--only", "lightgcn 0.125 small_dense_bytes seed-0",
    )  # fmt: skip
    told = reproduce(*words, "--threads", 1)
    states = {one["cells"][0]["variant"]: one["state"] for one in told["trainings"]}
    assert states == {"sparserec": "done", "small_dense_bytes": "done"}
    rows = (tmp_path / "results" / "reproduce.jsonl").read_text().splitlines()
    record = next(row for row in map(json.loads, rows) if row["config"]["method"] == "sparserec")
    events = (tmp_path / "runs" / "reproduce" / record["name"] / "events.jsonl").read_text()
    assert record["explorations"] == events.count('"event": "explore"') > 0
    assert not (tmp_path / "results" / "reproduce.md").exists()  # that is for what the grids ask for
    text = (tmp_path / "results" / "reproduce-changed.md").read_text()
    page = (tmp_path / "results" / "reproduce-changed.html").read_text()
    score = f"{record['test']['int8']['ndcg@20']:.4f}"
    for report in (text, page):
        assert score in report and "popular tenth" in report and "small dense, equal bytes" in report
    again = reproduce(*words)
    assert (tmp_path / "results" / "reproduce.jsonl").read_text().splitlines() == rows
    assert again["failed"] == 0


def test_mistakes_name_what_is_known(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="'table3': must be one of table1, "):
        Request.of("table3")
    with pytest.raises(SettingError, match="has the words of nonsense"):
        Request.of("ablation", only=("nonsense",), place=Place(tmp_path)).jobs()
