"""Bases of strangers: those of docs/guide/adding-a-recommender.md work, and what cannot work is refused."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

import sparserec
from sparserec.data import make_world
from sparserec.encodings import Encoding
from sparserec.errors import SettingError
from sparserec.recommenders import RECOMMENDERS, GraphBase, ItemBase, make_recommender
from sparserec.settings import Settings
from sparserec.table import InitialValues

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "adding-a-recommender.md"


def example(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The block of the guide that defines a class, as a module of its own."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    file = folder / f"{name.lower()}.py"
    file.write_text(next(block for block in blocks if f"class {name}(" in block), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, file.stem, module)  # pydantic resolves annotations by module
    spec.loader.exec_module(module)
    return module


def fit(base: str, method: str, folder: Path, **more: Any) -> sparserec.Model:
    return sparserec.fit(
        "world", base=base, method=method, folder=folder, dim=16, density=0.5, quiet=True, file=False, **more
    )


@pytest.mark.parametrize("method", ["set", "sparserec"])
def test_a_base_with_a_stepper_of_its_own_is_one_file(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = example("Elsa", tmp_path, monkeypatch)
    monkeypatch.setitem(RECOMMENDERS, "elsa", module.Elsa)
    model = fit("elsa", method, tmp_path / "run", recipe={"epochs": 4, "learning_rate": 0.05})
    found = model.evaluate()["float"]["ndcg@20"]
    popular = sparserec.fit("world", base="mf", method="dense", epochs=1, dim=1, quiet=True, file=False)
    assert found > 2 * popular.evaluate()["float"]["ndcg@20"], "it has learnt who likes what"
    assert found > 0.05
    loaded = sparserec.load(tmp_path / "run")
    user = loaded.user_ids[0]
    assert loaded.recommend(user) == model.recommend(user)
    report = model.export(tmp_path / "model.srec", encoding=Encoding(8, 8, "shared"))
    assert report.quality["file"]["folded"]["ndcg@20"] > 0.9 * report.quality["float"]["folded"]["ndcg@20"]


def test_a_filter_of_the_guide_trains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = example("Fading", tmp_path, monkeypatch)
    monkeypatch.setitem(RECOMMENDERS, "fading", module.Fading)
    model = fit("fading", "static", tmp_path / "run", recipe={"epochs": 2, "batch_size": 500})
    assert model.evaluate()["float"]["ndcg@20"] > 0.02


def test_the_loss_of_the_guide_leaves_out_what_an_item_says_of_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two items alike: each predicts the other perfectly. Two at right angles predict nothing of each other."""
    loss = example("Elsa", tmp_path, monkeypatch).elsa_loss
    seen = torch.tensor([[1.0, 1.0]])
    assert loss(torch.tensor([[1.0, 0.0], [3.0, 0.0]]), seen) == pytest.approx(0.0, abs=1e-6)
    assert loss(torch.tensor([[1.0, 0.0], [0.0, 1.0]]), seen) == pytest.approx(1.0)


class Alone(GraphBase):
    """What the guide once invited: no rows for users, and steps that train them."""

    name = "alone"
    user_rows = False
    taps = ((1.0,),)

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def initial(self, seed: int, n_users: int, n_items: int, dim: int) -> InitialValues:
        return InitialValues(seed, "normal", 0.1, 0.1)


class Unfinished(ItemBase):
    name = "unfinished"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings


class Bare:
    name = "bare"
    settings_kind = Settings

    def __init__(self, settings: Settings) -> None:
        self.settings = settings


@pytest.mark.parametrize(
    ("kind", "output"),
    [
        (Alone, "Alone has no rows for users and no `stepper` of its own"),
        (Unfinished, "Unfinished has no rows for users and no `stepper` of its own"),
        (Bare, "Bare has no choose, draws_edges, .*stepper.*inherit from GraphBase or ItemBase"),
    ],
)
def test_what_cannot_train_is_refused(kind: type, output: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A base without rows for users on steps over edges trained to chance without a word."""
    monkeypatch.setitem(RECOMMENDERS, "stranger", kind)
    with pytest.raises(SettingError, match=output):
        make_recommender("stranger")
    with pytest.raises(SettingError, match=output):
        sparserec.fit(make_world().train, base="stranger", method="static", quiet=True)


def test_nobody_else_asks_which_base_it_is() -> None:
    """What differs between bases stands behind their protocol."""
    source = Path(sparserec.__file__).parent
    asking = re.compile(
        r"isinstance\([^)]*\b(History|HistoryStepper|GraphBase|ItemBase|LightGCN|MGDCF|XSimGCL|MF)\b"
        r"|\bbase\b *(==|!=|in|not in) *[\[({]?\"(history|lightgcn|mgdcf|xsimgcl|mf)\""
    )
    places = {
        f"{path.relative_to(source)}: {found.group()}"
        for path in source.rglob("*.py")
        if path.name != "demo.py"  # names folders after bases
        for found in asking.finditer(path.read_text(encoding="utf-8"))
    }
    assert places == set()
