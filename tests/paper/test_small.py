"""Table 1 in small: what it trains, that it trains, and rank agreement with the paper and with all users by hand."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest
from made_up_rows import row_of
from typer.testing import CliRunner

from reproduction.cells import Overrides
from reproduction.jobs import Place, list_jobs
from reproduction.paper_table import MODELS
from reproduction.reproduce import Request
from sparserec.cli.app import build_app
from sparserec.errors import SettingError


def test_what_is_trained(tmp_path: Path) -> None:
    """The paper's methods on three bases and densities, two seeds, of the drawn users; no search comes first."""
    jobs = list_jobs(["small"], Overrides(), (), Place(tmp_path, "small"))
    cells = [cell for job in jobs for cell in job.cells]
    asked = {(cell.base, cell.density, cell.variant, cell.seed) for cell in cells}
    bases, densities = ("xsimgcl", "mgdcf", "lightgcn"), (0.0625, 0.125, 0.25)
    assert asked >= set(product(bases, densities, [*MODELS, "dhe_small"], (0, 1)))
    assert all(job.state == "waiting" and job.search is None and job.cells for job in jobs)
    for job in jobs:
        assert job.config is not None and job.config.read == {"draw_users": 4400, "core": 5}
        assert job.name.startswith("gowalla-4400-users-")


def test_only_table_1_has_a_small_version() -> None:
    with pytest.raises(SettingError, match="only table1"):
        Request.of("ablation", small=True)


def test_rank_agreement_by_hand(tmp_path: Path) -> None:
    """Three methods at .125 on LightGCN. Paper: SparseRec, PEP, DSL. Small: the same. All users: DSL before PEP."""
    place = Place(tmp_path, "small")
    only = [f"lightgcn 0.125 {name}" for name in ("sparserec", "pep", "dsl")]
    scores = {"sparserec": 0.13, "pep": 0.12, "dsl": 0.11}
    rows: dict[str, list[str]] = {"small": [], "table1": []}
    for grid, some in rows.items():
        for job in list_jobs([grid], Overrides(), [f"gowalla {words}" for words in only], place):
            if job.config is None or not job.cells or job.cells[0].variant not in scores:
                continue
            score = scores[job.cells[0].variant] + 0.002 * job.cells[0].seed
            score = 0.5 if (grid, job.cells[0].variant) == ("table1", "dsl") else score
            cost = {"seconds": {"train": 300.0, "total": 360.0}, "environment": {"threads": 2}}
            some.append(json.dumps(row_of(job.config, score, name=f"search-{job.name}=0.1", **cost)))
    place.results.mkdir()
    for grid, some in rows.items():
        (place.results / f"{grid}.jsonl").write_text("\n".join(some) + "\n")
    request = Request.of("table1", small=True, place=place)
    files = request.report(request.jobs(), tmp_path / "small.md")
    assert [file.name for file in files] == ["small.md", "small.html"]
    text = files[0].read_text()
    assert "| LightGCN | 0.125 | +1.00 (3, p 0.33) | -0.33 (3, p 1.00) | -0.33 (3, p 1.00) |" in text
    assert "in small against the paper +1.00 over 1 settings; in small against all users -0.33" in text
    assert "| 0.125 | SparseRec | - | - | **0.1310 ± 0.0014 (2 seeds)** |" in text
    assert "| 0.125 | PEP | - | - | <u>0.1210 ± 0.0014 (2 seeds)</u> |" in text
    assert "6 trainings, 36 min in all on 2 threads" in text
    assert len(text.splitlines()) <= 300


def test_small_cells_are_trained_from_a_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARSEREC_CACHE", str(tmp_path / "cache"))
    rows = [f"u{user},i{item}" for user in range(60) for item in range(30) if (user + item) % 3 == 0]
    (tmp_path / "log.csv").write_text("user_id,item_id\n" + "\n".join(rows) + "\n")
    words = [
        "reproduce", "table1", "--small", "--data", tmp_path / "log.csv", "--epochs", 1, "--set", "dim=8",
        "--set", "read.draw_users=40", "--folder", tmp_path, "--no-time", "--threads", 1, "--json",
        "--only", "lightgcn 0.125 seed-0 small_dense-",
    ]  # fmt: skip
    result = CliRunner().invoke(build_app(), [str(word) for word in words])
    assert result.exit_code == 0, result.exception
    lines = (tmp_path / "results" / "small.jsonl").read_text().splitlines()
    recorded = [json.loads(line) for line in lines]
    assert recorded and {row["data"]["users"] for row in recorded} == {40}
    assert (tmp_path / "results" / "small-changed.md").exists()
    assert len(list((tmp_path / "results" / "per_user" / "small").iterdir())) == len(recorded)
