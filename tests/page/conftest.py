"""A model of the built-in city, its page, and one browser for all tests of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page_driver import FLAGS, Visit, check_quiet, find_browser, watch
from scipy.sparse import csr_array
from scipy.sparse.linalg import svds

from absent import absent
from sparserec.data import make_world
from sparserec.device import Model, ModelParts, encode_table, load, write_model
from sparserec.export.page import write_page

DIM = 24
NAMED = {
    3: "Café Übermut",
    5: "CAFE   under the Ångström",
    8: "Straße № 9 – Wrocław",
    11: "<b>Bold</b> & </script> Sons",
}


@pytest.fixture(scope="session")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Item vectors from a plain factorisation: good enough to recommend, made in a second."""
    train = make_world().train
    matrix = csr_array((np.ones(len(train)), (train.users, train.items)), (train.n_users, train.n_items))
    _, values, items = svds(matrix, DIM, v0=np.ones(min(matrix.shape)))
    vectors = (items.T * np.sqrt(values)).astype(np.float32)
    info = train.item_info
    assert info is not None and info.titles is not None and info.tags is not None
    titles = list(info.titles)
    for item, title in NAMED.items():
        titles[item] = title
    quality = {"recall@20": 0.25, "ndcg@20": 0.2}
    parts = ModelParts(
        mode="items", base="lightgcn", weight=np.array([0.5, 0.5]), score=encode_table(vectors, 8),
        degree=train.item_counts(), users=train.n_users, item_ids=[str(one) for one in train.item_ids.external()],
        titles=titles, tags=info.tags, card={"producer": "a test", "metrics": {"file": {"folded": quality}}},
    )  # fmt: skip
    path = tmp_path_factory.mktemp("page") / "world.srec"
    write_model(path, parts)
    return path


@pytest.fixture(scope="session")
def model(model_file: Path) -> Model:
    return load(model_file)


@pytest.fixture(scope="session")
def page_file(model_file: Path) -> Path:
    path = model_file.with_suffix(".html")
    write_page(path, model_file, "Places to go")
    return path


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        absent("playwright is not installed: pip install playwright")
    executable = find_browser()
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=executable, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Visit]]:
    """A function that makes a fresh, offline visitor; afterwards every visit is checked for requests and complaints."""
    contexts, visits = [], []

    def start(**settings: Any) -> Visit:
        context = browser.new_context(offline=True, reduced_motion="reduce", **settings)
        contexts.append(context)
        visits.append(watch(context.new_page()))
        return visits[-1]

    yield start
    for one in visits:
        check_quiet(one)
    for context in contexts:
        context.close()
