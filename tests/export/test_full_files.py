"""Mode full: the table and everybody's history in a file, exact for known users."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from small_city import full_options, train

from sparserec import device
from sparserec.encodings import FileQuality
from sparserec.errors import SettingError
from sparserec.evaluation import top_items
from sparserec.export import ExportOptions, export_run
from sparserec.recommenders import RECOMMENDERS
from sparserec.runs.trained import Trained


def assert_full_equals_evaluator(run: Trained, path: Path, bits: int) -> None:
    """Top-10 of every user from the file = ranking by the training side on the same quantised values."""
    export_run(run, path, full_options(bits=bits))
    model = device.load(path)
    known = run.split.everything()
    vectors = run.recommender.vectors(run.recommender.graph(known), run.table.quantised(bits))
    users = np.arange(run.split.n_users, dtype=np.int32)
    seen = [(known.offsets(), known.items)]
    items = torch.from_numpy(np.ascontiguousarray(vectors.items))
    expected = top_items(lambda ids: torch.from_numpy(vectors.users[ids]), items, users, 10, seen)
    scores = vectors.users @ vectors.items.T
    for user in users:
        answer = model.recommend(user=run.split.train.user_ids.external([user])[0], k=10)
        found = run.split.train.item_ids.index_of([one.id for one in answer])
        wanted = [item for item in expected[user] if item >= 0]
        np.testing.assert_allclose(scores[user, found], scores[user, wanted], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("bits", [8, 4])
def test_full_file_ranks_like_the_evaluator(plain: Trained, tmp_path: Path, bits: int) -> None:
    assert_full_equals_evaluator(plain, tmp_path / "m.srec", bits)


@pytest.mark.parametrize("base", sorted(name for name, kind in RECOMMENDERS.items() if kind.user_rows))
def test_full_file_of_every_base(base: str, tmp_path: Path) -> None:
    assert_full_equals_evaluator(train(tmp_path / "run", base, text_ids=True), tmp_path / "m.srec", 8)


def test_full_is_refused_without_saying_whose_data(plain: Trained, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="every user") as caught:
        export_run(plain, tmp_path / "m.srec", ExportOptions(mode="full"))
    assert "`include_everyones_history`" in str(caught.value)
    assert not (tmp_path / "m.srec").exists()


def test_full_takes_four_bits_only_where_they_lose_nothing(plain: Trained, tmp_path: Path) -> None:
    report = export_run(plain, tmp_path / "m.srec", full_options())
    quality = [
        FileQuality(plain.recommender.vectors(plain.graph, table), plain.split).metrics(plain.split.valid)[
            "trained"
        ]["ndcg@20"]
        for table in (plain.table, plain.table.quantised(4))
    ]
    assert report.encoding["bits"] == (4 if quality[1] >= 0.99 * quality[0] else 8)
