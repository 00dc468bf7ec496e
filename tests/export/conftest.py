"""Two runs that many files are written from; nothing changes them."""

from __future__ import annotations

import pytest
from small_city import train

from sparserec.runs.trained import Trained


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARSEREC_CACHE", str(tmp_path_factory.mktemp("cache")))
        return train(tmp_path_factory.mktemp("runs") / "lightgcn", "lightgcn")


@pytest.fixture(scope="session")
def of_histories(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    settings = {"users_per_batch": 16, "temperature": 0.3}
    return train(tmp_path_factory.mktemp("runs") / "history", "history", settings, method="dense")
