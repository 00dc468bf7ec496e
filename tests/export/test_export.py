"""What a file holds and what it does not, what is measured, and where it cannot be written."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_city import N_ITEMS, full_options

from sparserec import device
from sparserec.data import read_source
from sparserec.encodings import Encoding
from sparserec.errors import RunError, SettingError
from sparserec.export import ExportOptions, export_run
from sparserec.runs.train import train_run
from sparserec.runs.trained import Trained, open_run
from sparserec.training.config import Recipe, RunConfig


def test_items_file_holds_no_interactions(plain: Trained, tmp_path: Path) -> None:
    export_run(plain, tmp_path / "m.srec", ExportOptions())
    header = (tmp_path / "m.srec").read_bytes()
    names = json.loads(header[8 : 8 + int.from_bytes(header[:8], "little")])
    assert not [name for name in names if name.startswith(("graph", "user"))]
    assert device.load(tmp_path / "m.srec").card()["mode"] == "items"


@pytest.mark.parametrize("mode", ["full", "personal"])
def test_nothing_the_user_has_is_recommended(plain: Trained, tmp_path: Path, mode: str) -> None:
    known, ids = plain.split.everything(), plain.split.train.item_ids
    for user in (3, 17, 40):
        name = plain.split.train.user_ids.external([user])[0]
        options = full_options() if mode == "full" else ExportOptions(mode="personal", user=name)
        export_run(plain, tmp_path / f"{user}.srec", options)
        answer = device.load(tmp_path / f"{user}.srec").recommend(user=name, k=N_ITEMS)
        own = set(known.items[known.users == user].tolist())
        assert len(own) > len(plain.split.train.items[plain.split.train.users == user])
        assert set(ids.index_of([one.id for one in answer]).tolist()) == set(range(N_ITEMS)) - own


def test_without_a_validation_part_the_test_part_stays_closed(tmp_path: Path) -> None:
    pairs = [(u, i) for u in range(30) for i in range(25) if (u + i) % 3 == 0]
    held_out = [pair for pair in pairs if sum(pair) % 4 == 0]
    source = read_source(train=[pair for pair in pairs if pair not in held_out], test=held_out)
    config = RunConfig(
        base="lightgcn",
        protocol="public-full",
        method="static",
        dim=8,
        density=0.5,
        recipe=Recipe(epochs=1, batch_size=50),
    )
    train_run(config, tmp_path / "run", source=source)
    run = open_run(tmp_path / "run")
    hidden = replace(run, split=replace(run.split, test=run.split.test.select(run.split.test.users < 0)))
    reports = [export_run(one, tmp_path / "m.srec", ExportOptions()) for one in (run, hidden)]
    assert reports[0] == reports[1], "what the test part holds must not matter"
    assert reports[0].quality == {} and reports[0].measured_on is None
    assert open_run(tmp_path / "run").record.times_opened == 1


def test_a_file_without_users_is_not_measured_on_trained_users(plain: Trained, tmp_path: Path) -> None:
    report = export_run(plain, tmp_path / "m.srec", ExportOptions())
    assert set(report.quality["file"]) == set(report.quality["float"]) == {"folded"}
    full = export_run(plain, tmp_path / "f.srec", full_options())
    assert set(full.quality["file"]) == {"trained", "folded"}


def test_where_a_file_cannot_be_written(plain: Trained, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="is a folder; name the file"):
        export_run(plain, tmp_path, ExportOptions())
    with pytest.raises(SettingError, match="there is no folder"):
        export_run(plain, tmp_path / "no" / "such" / "m.srec", ExportOptions())
    assert not (tmp_path / "no").exists()
    with pytest.raises(RunError, match="cannot write"):
        export_run(plain, Path("/proc/model.srec"), ExportOptions())
    with pytest.raises(SettingError, match="keep 0"):
        export_run(plain, tmp_path / "m.srec", ExportOptions(encoding=Encoding(8, 0, "own")))


def test_rare_items_are_left_out(plain: Trained, tmp_path: Path) -> None:
    counts = plain.split.train.item_counts()
    report = export_run(plain, tmp_path / "m.srec", ExportOptions(min_users=int(np.median(counts)) + 1))
    model = device.load(tmp_path / "m.srec")
    assert report.dropped_items == int((counts <= int(np.median(counts))).sum()) > 0
    rare = plain.split.train.item_ids.external([int(np.argmin(counts))])[0]
    with pytest.raises(device.DeviceError):
        model.similar(rare)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"mode": "persnal", "user": "u"}, "'persnal': must be one of items, full, personal"),
        ({"user": "u"}, "`user` is for mode personal"),
        ({"bits": 8}, "`bits` is for mode full; in mode items write encoding="),
        ({"mode": "full", "bits": 5}, "`bits` 5: the table of mode full has 4 or 8"),
        ({"mode": "full", "encoding": Encoding(8, 8, "shared", "codes")}, "`encoding` is not for mode full"),
        ({"mode": "full", "term": True}, "`term` is not for mode full"),
        ({"mode": "full", "min_users": 9}, "`min_users` is not for mode full"),
        ({"encoding": Encoding(4, 16, "onw")}, "fold is 'onw'; must be one of own, shared"),
        ({"encoding": Encoding(4, "4")}, "keep is '4', which is no whole number"),
    ],
)  # fmt: skip
def test_nothing_that_was_asked_for_is_left_unheeded(
    plain: Trained, tmp_path: Path, asked: dict, message: str
) -> None:
    options = ExportOptions(include_everyones_history=True, **asked)
    with pytest.raises(SettingError, match=message):
        export_run(plain, tmp_path / "m.srec", options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("encoding", [Encoding(8, 16, "own"), Encoding(4, 16, "shared", "together")])
def test_what_is_reported_is_what_the_file_gives(plain: Trained, tmp_path: Path, encoding: Encoding) -> None:
    """Oracle: the reader, asked for everybody, where half of the items are left out."""
    split = plain.split
    least = int(np.median(split.train.item_counts())) + 1
    report = export_run(plain, tmp_path / "m.srec", ExportOptions(encoding=encoding, min_users=least))
    assert report.dropped_items > 10
    model, ids = device.load(tmp_path / "m.srec"), split.train.item_ids.external()
    known, wanted = split.train.offsets(), split.valid.offsets()
    recalls = []
    for user in np.flatnonzero(np.diff(wanted)):
        truth = {int(one) for one in ids[split.valid.items[wanted[user] : wanted[user + 1]]]}
        history = ids[split.train.items[known[user] : known[user + 1]]].tolist()
        found = {one.id for one in model.recommend(history=history, k=20)}
        recalls.append(len(found & truth) / len(truth))
    assert report.quality["file"]["folded"]["recall@20"] == pytest.approx(np.mean(recalls), abs=0.01)
