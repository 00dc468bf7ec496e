"""The worked example of docs/adding-a-method.md is a working method."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from method_toy import CHANCE, LISTED, train_toy

from sparserec import methods
from sparserec.table import TABLES

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (DOCS / "adding-a-method.md").read_text(encoding="utf-8")
    found = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    assert found is not None
    file = tmp_path / "tickets.py"
    file.write_text(found.group(1), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("tickets", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(
        __import__("sys").modules, "tickets", module
    )  # pydantic resolves annotations by module
    spec.loader.exec_module(module)
    monkeypatch.setitem(methods.METHODS, "tickets", module.Tickets)

    finished = train_toy(tmp_path / "run", "tickets")
    phases = finished.record["epochs"]
    scores = [phase["best_score"] for phase in phases[:3]]
    assert [phase["epochs"] for phase in phases] == [2, 2, 2, 12]
    assert phases[3]["name"] == f"train {scores.index(max(scores))}"
    assert finished.record["cost"] == pytest.approx(18 / 12)
    assert finished.record["test"]["float"][f"recall@{LISTED}"] > 4 * CHANCE


def test_every_method_and_setting_is_documented() -> None:
    page = (DOCS / "methods.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE))
    for name, kind in methods.METHODS.items():
        text = next(body for title, body in sections.items() if name in title.split())
        missing = [field for field in kind.settings_kind.model_fields if f"`{field}" not in text]
        assert not missing, f"docs/methods.md, {name}: {missing}"
    assert {"sparse", "dense", "masked", "thresholded"} <= set(TABLES)
