"""MLflow and TensorBoard for real, on local files: they hold what the record holds, once, in one run of theirs."""

from __future__ import annotations

import builtins
import json
import struct
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from mlflow.tracking import MlflowClient
from tensorboardX.proto.event_pb2 import Event as WrittenEvent
from typer.main import get_command

import sparserec
from sparserec.cli.app import build_app
from sparserec.data import read_source
from sparserec.errors import SettingError
from sparserec.extras import MissingExtraError
from sparserec.runs import EndTraining, Event, Observer, RunFolder, train_run, watching
from sparserec.tracking import MLflow, TensorBoard, make_tracker, track_run

PAIRS = [(f"u{user}", f"i{item}") for user in range(24) for item in range(24) if user % 2 == item % 2]
SHORT: dict[str, Any] = {
    "base": "mf", "method": "sparserec", "dim": 8, "ks": (3,), "quiet": True, "epochs": 4, "checkpoint_every": 3,
    "recipe": {"batch_size": 80, "validate_every": 2}, "method_settings": {"init": "uniform"},
}  # fmt: skip


class Ends(Observer):
    """Ends a run after an epoch that is no checkpoint."""

    def event(self, event: Event) -> None:
        if event["event"] == "epoch" and event["epoch"] == 2:
            raise EndTraining("as if it had been killed")


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("mlflow")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
        patch.chdir(folder)  # its artifacts go beside the database
        yield f"sqlite:///{folder / 'store.db'}"  # type: ignore[misc]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, uri: str, drawing: None) -> RunFolder:
    """Tracked, ended in the middle, resumed with fresh trackers to its end."""
    run = RunFolder(tmp_path_factory.mktemp("runs") / "stopped")
    with pytest.raises(EndTraining):
        sparserec.fit(PAIRS, folder=run.path, observers=[MLflow(uri), TensorBoard(), Ends()], **SHORT)
    assert told_mlflow(uri, run)["status"] == "KILLED"
    with watching([MLflow(uri), TensorBoard()]) as watched:
        train_run(run.read_config(), run.path, read_source(PAIRS), resume=True, watched=watched)
    return run


def told_mlflow(uri: str, run: RunFolder) -> dict[str, Any]:
    """The one run of the database that has the folder's name."""
    client = MlflowClient(uri)
    experiments = [one.experiment_id for one in client.search_experiments()]
    (found,) = client.search_runs(experiments, f"attributes.run_name = '{run.path.name}'")
    number = found.info.run_id
    histories = {name: client.get_metric_history(number, name) for name in found.data.metrics}
    return {
        "id": number,
        "status": found.info.status,
        "settings": found.data.params,
        "curves": {name: {one.step: one.value for one in told} for name, told in histories.items()},
        "points": {name: len(told) for name, told in histories.items()},
        "files": {file.path for file in client.list_artifacts(number)},
    }


def told_tensorboard(folder: Path) -> dict[str, Any]:
    """Records of event files: length, checksum of it, a message, checksum of that."""
    curves: dict[str, dict[int, float]] = defaultdict(dict)
    points: dict[str, int] = defaultdict(int)
    others = set()
    (file,) = folder.glob("events.out.tfevents.*")
    data, at = file.read_bytes(), 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        event = WrittenEvent.FromString(data[at + 12 : at + 12 + length])
        at += 12 + length + 4
        for value in event.summary.value:
            if value.WhichOneof("value") == "simple_value":
                curves[value.tag][event.step] = value.simple_value
                points[value.tag] += 1
            else:
                others.add(value.tag)
    return {"curves": dict(curves), "points": dict(points), "others": others}


def check_numbers(told: dict[str, Any], run: RunFolder) -> None:
    epochs = [event for event in run.read_events() if event["event"] == "epoch"]
    assert len(epochs) == 4
    for name in ("loss", "learning_rate"):
        assert told["curves"][name] == pytest.approx({one["epoch"]: one[name] for one in epochs})
    valid = {one["epoch"]: one["valid"]["ndcg@3"] for one in epochs if "valid" in one}
    assert told["curves"]["valid/ndcg_at_3"] == pytest.approx(valid) and len(valid) == 2
    record = run.read_record()
    once = {
        "test/float/ndcg_at_3": record.test["float"]["ndcg@3"],
        "test/int8/recall_at_3": record.test["int8"]["recall@3"],
        "bytes/int8": record.bytes["int8"],
        "seconds_of/train": record.seconds.train,
        "memory/peak/train": record.memory.peak["train"],
        "memory/formula": record.memory.formula,
    }
    for name, value in once.items():
        assert list(told["curves"][name].values()) == pytest.approx([value]), name
    many = {"loss", "learning_rate", "seconds", "parameters"}
    assert {name: count for name, count in told["points"].items() if count != 1 and "valid/" not in name} == (
        dict.fromkeys(many, 4)
    ), "nothing is told twice"


def test_mlflow_holds_what_the_record_holds(run: RunFolder, uri: str) -> None:
    told = told_mlflow(uri, run)
    check_numbers(told, run)
    assert told["status"] == "FINISHED" and told["id"] == json.loads(run.trackers.read_text())["mlflow"]
    config = run.read_config()
    expected = {
        "recipe.epochs": "4", "method": "sparserec", "seed": "0", "dim": "8", "base_settings.decay": "0.0001",
        "recipe.learning_rate": str(config.recipe.learning_rate), "method_settings.init": "uniform",
    }  # fmt: skip
    assert {name: told["settings"][name] for name in expected} == expected
    assert {"record.json", "config.json", "events.jsonl", "training.png"} <= told["files"]
    assert not {"data.safetensors", "per_user.npz"} & told["files"], "interactions stay where they are"


def test_tensorboard_holds_what_the_record_holds(run: RunFolder) -> None:
    told = told_tensorboard(run.path / "tensorboard")
    check_numbers(told, run)
    assert {"settings/text_summary", "record/text_summary", "training"} <= told["others"]


def test_a_tracked_run_is_as_sealed_as_any(run: RunFolder) -> None:
    run.verify()
    assert sparserec.load(run.path).n_items == 24


def test_told_again_it_is_still_one_run(run: RunFolder, uri: str) -> None:
    before = told_mlflow(uri, run)
    track_run(run, MLflow(uri))
    track_run(run, TensorBoard())
    assert told_mlflow(uri, run) == before
    check_numbers(told_tensorboard(run.path / "tensorboard"), run)
    run.verify()


def test_commands(tmp_path: Path, uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`train --track`, and `track` of a run that nobody had tracked; where MLflow is, its own variables say."""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "elsewhere")
    (tmp_path / "log.csv").write_text("user_id,item_id\n" + "".join(f"{u},{i}\n" for u, i in PAIRS))
    words = [
        "train",
        str(tmp_path / "log.csv"),
        "--run",
        str(tmp_path / "typed"),
        "--track",
        "tensorboard",
        "--quiet",
    ]
    words += [
        "--base",
        "mf",
        "--dim",
        "8",
        "--epochs",
        "4",
        "--set",
        "ks=[3]",
        "--set",
        "recipe.batch_size=80",
    ]
    words += ["--set", "recipe.validate_every=2", "--set", "method_settings.init=uniform"]
    for line in (words, ["track", str(tmp_path / "typed"), "--to", "mlflow"]):
        done = CliRunner().invoke(get_command(build_app()), line)
        assert done.exit_code == 0, done.exception
    run = RunFolder(tmp_path / "typed")
    told = told_tensorboard(run.path / "tensorboard"), told_mlflow(uri, run)
    for one in told:
        check_numbers(one, run)
        shipped = run.read_record().shipped
        assert shipped is not None and list(one["curves"]["bytes/shipped"].values()) == [shipped["bytes"]]
    assert MlflowClient(uri).get_experiment_by_name("elsewhere") is not None


def test_a_folder_that_told_another_server_begins_anew_here(run: RunFolder, tmp_path: Path) -> None:
    before, other = run.trackers.read_text(), f"sqlite:///{tmp_path / 'other.db'}"
    track_run(run, MLflow(other, "another"))
    check_numbers(told_mlflow(other, run), run)
    assert run.trackers.read_text() != before
    run.trackers.write_text(before)


def test_runs_of_one_name_do_not_replace_each_other(tmp_path: Path) -> None:
    """In a folder that was given: `fit` without a folder calls every run `run`, and their settings may be the same."""
    models = [sparserec.fit(PAIRS, observers=[TensorBoard(tmp_path)], file=False, **SHORT) for _ in range(2)]
    assert sorted(place.name for place in tmp_path.iterdir()) == ["run", "run-2"]
    for model, name in zip(models, ("run", "run-2")):
        check_numbers(told_tensorboard(tmp_path / name), model.run.folder)


def test_a_resumed_run_keeps_its_place_beside_another_of_its_name(tmp_path: Path) -> None:
    given, first, second = tmp_path / "curves", *(RunFolder(tmp_path / name / "default") for name in "ab")
    with pytest.raises(EndTraining):
        sparserec.fit(PAIRS, folder=first.path, observers=[TensorBoard(given), Ends()], **SHORT)
    sparserec.fit(PAIRS, folder=second.path, observers=[TensorBoard(given)], file=False, seed=1, **SHORT)
    with watching([TensorBoard(given)]) as watched:
        train_run(first.read_config(), first.path, read_source(PAIRS), resume=True, watched=watched)
    track_run(second, TensorBoard(given))
    assert sorted(place.name for place in given.iterdir()) == ["default", "default-2"]
    for run, name in ((first, "default"), (second, "default-2")):
        check_numbers(told_tensorboard(given / name), run)


def test_event_files_that_do_not_say_whose_they_are_stay(run: RunFolder, tmp_path: Path) -> None:
    """As older versions wrote them."""
    old = tmp_path / run.path.name / "events.out.tfevents.1"
    old.parent.mkdir()
    old.write_bytes(b"curves")
    track_run(run, TensorBoard(tmp_path))
    assert old.read_bytes() == b"curves"
    check_numbers(told_tensorboard(tmp_path / f"{run.path.name}-2"), run)


def test_an_unknown_tracker_is_named() -> None:
    with pytest.raises(SettingError, match="tracker 'wandb': unknown; known: mlflow, tensorboard"):
        make_tracker("wandb")


@pytest.mark.parametrize(("name", "package"), [("mlflow", "alembic"), ("tensorboard", "tensorboardX")])
def test_a_missing_extra_is_named_in_a_line(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without(wanted: str, *rest: Any) -> Any:
        if wanted.split(".")[0] == package:
            raise ModuleNotFoundError(f"No module named {package!r}", name=package)
        return original(wanted, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=rf"needs {package}, .*: pip install 'sparserec\[{name}\]'"):
        make_tracker(name)
