"""One small trained run for all tests of this folder."""

from pathlib import Path

import pytest
from kinds_toy import KINDS, N_ITEMS, small_pairs

import sparserec


@pytest.fixture(scope="session")
def names(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("items") / "items.csv"
    lines = [
        f"i{item:02d},Place {item} of kind {item % KINDS},kind {item % KINDS}" for item in range(N_ITEMS)
    ]
    path.write_text("\n".join(["id,title,tags", *lines]) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory, names: Path) -> sparserec.Model:
    folder = tmp_path_factory.mktemp("runs") / "small"
    return sparserec.fit(
        small_pairs(),
        base="lightgcn",
        method="sparserec",
        method_settings={"init": "uniform"},
        dim=16,
        density=0.5,
        epochs=40,
        file=False,
        recipe={"batch_size": 400, "learning_rate": 0.05, "validate_every": 10, "explore_every": 5},
        ks=(5,),
        folder=folder,
        metadata=names,
        quiet=True,
    )
