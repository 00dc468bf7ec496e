"""A finished run, read back from its folder or through its file, is the model that was measured."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sparserec import device
from sparserec.data import Interactions, read_source
from sparserec.encodings import Encoding, FileQuality
from sparserec.export import ExportOptions, export_run
from sparserec.recommenders import RECOMMENDERS
from sparserec.runs.folder import RunFolder
from sparserec.runs.train import Finished, train_run
from sparserec.runs.trained import measure_again, open_run
from sparserec.runs.warm_start import open_warm_start
from sparserec.training.config import RunConfig


def log(seed: int = 0) -> list[tuple[str, str]]:
    """Users who like one of six kinds of items, popular ones more."""
    rng = np.random.default_rng(seed)
    return [
        (f"u{user}", f"p{item}")
        for user in range(90)
        for item in range(60)
        if rng.random() < (0.9 / (1 + item // 12) if user % 6 == item % 6 else 0.03)
    ]


@pytest.fixture(scope="module", params=[name for name in RECOMMENDERS])
def finished(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """Trained with every setting of the base left open."""
    recipe = {"epochs": 4, "batch_size": 200, "validate_every": 2}
    settings = {"nmf_iterations": 3} if request.param != "history" else {"init": "uniform"}
    config = RunConfig.parse(
        {"base": request.param, "dim": 16, "density": 0.5, "recipe": recipe, "method_settings": settings}
    )
    return train_run(config, tmp_path_factory.mktemp("reopened") / "run", read_source(log()))


def test_settings_chosen_on_validation_come_back(finished: Finished) -> None:
    reopened = open_run(finished.folder)
    assert reopened.recommender.settings == finished.prepared.recommender.settings
    inherited = open_warm_start(finished.folder).inherited()
    assert inherited["base_settings"] == finished.record.base_settings
    if reopened.config.base == "history":
        assert reopened.recommender.settings.length_exponent is not None, (
            "the toy must leave something to choose"
        )
        assert not reopened.config.base_settings


def test_config_json_holds_every_setting(finished: Finished) -> None:
    """What was left open too; it plays no part in what was asked for, and older folders without it open the same."""
    file = finished.folder / "config.json"
    stored = json.loads(file.read_text(encoding="utf-8"))
    assert stored["settled"]["base_settings"] == finished.record.base_settings
    assert stored["settled"]["method_settings"] == finished.record.method_settings
    assert stored["settled"]["epochs"] == finished.prepared.context.epochs == 4
    folder = RunFolder(finished.folder)
    assert folder.read_config().digest() == finished.record.digest
    assert "settled" not in finished.record.config and "settled" not in folder.read_config().model_dump()
    kept, hashes = file.read_bytes(), folder.checksums.read_bytes()
    try:
        file.write_text(json.dumps({key: value for key, value in stored.items() if key != "settled"}))
        folder.checksums.unlink()
        assert open_run(finished.folder).recommender.settings == finished.prepared.recommender.settings
    finally:
        file.write_bytes(kept)
        folder.checksums.write_bytes(hashes)


def test_reopened_is_measured(finished: Finished) -> None:
    reopened = open_run(finished.folder)
    vectors = reopened.recommender.vectors(reopened.graph, reopened.table)
    found = FileQuality(vectors, reopened.split).metrics(reopened.split.valid)
    best = max(phase.best_score for phase in finished.record.epochs if phase.best_score is not None)
    assert found["trained"]["ndcg@20"] == pytest.approx(best, abs=1e-9)
    assert measure_again(reopened) == finished.record.test


def test_file_is_measured(finished: Finished, tmp_path: Path) -> None:
    """What the reader recommends has the quality that the file says, which is near that of the float vectors."""
    run = open_run(finished.folder)
    path = tmp_path / "model.srec"
    report = export_run(run, path, ExportOptions(encoding=Encoding(8, 16, "own"), min_users=0))
    model, ids = device.load(path), run.split.train.item_ids
    users = np.flatnonzero(np.diff(run.split.valid.offsets()))
    scores = []
    for user in users:
        history = [str(one) for one in ids.external(_items(run.split.train, user))]
        listed = [item.id for item in model.recommend(history=history, k=20)]
        scores.append(_ndcg(listed, {str(one) for one in ids.external(_items(run.split.valid, user))}))
    measured = report.quality["file"]["folded"]["ndcg@20"]
    assert np.mean(scores) == pytest.approx(measured, abs=2e-3)
    assert measured == pytest.approx(report.quality["float"]["folded"]["ndcg@20"], rel=0.02)
    if not run.recommender.user_rows:  # a user is their history: the file serves the model that was measured
        best = max(phase.best_score for phase in finished.record.epochs if phase.best_score is not None)
        assert report.quality["float"]["folded"]["ndcg@20"] == pytest.approx(best, abs=1e-6)


def _items(part: Interactions, user: int) -> np.ndarray:
    offsets = part.offsets()
    return part.items[offsets[user] : offsets[user + 1]]


def _ndcg(listed: list[str], wanted: set[str]) -> float:
    gains = 1 / np.log2(np.arange(2, 22))
    found = sum(gain for one, gain in zip(listed, gains) if one in wanted)
    return float(found / gains[: min(20, len(wanted))].sum())
