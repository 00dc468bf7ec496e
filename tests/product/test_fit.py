"""sparserec.fit plans as `sparserec train` does: the same settings come out, and what cannot fit is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas
import polars
import pytest
import scipy.sparse
from click.testing import CliRunner
from kinds_toy import small_pairs
from typer.main import get_command

import sparserec
from sparserec.cli.app import build_app
from sparserec.data.errors import MissingColumnError
from sparserec.errors import SettingError

SHORT = {"batch_size": 400, "validate_every": 1}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    lines = [f"{user},{item}" for user, item in small_pairs()]
    path.write_text("\n".join(["user_id,item_id", *lines]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("target", ["items", "full"])
def test_a_budget_chooses_as_train_does(log: Path, target: str, tmp_path: Path) -> None:
    settings = {"epochs": 1, "ks": (5,), "recipe": SHORT, "method_settings": {"init": "uniform"}}
    model = sparserec.fit(log, budget="9kB", mode=target, quiet=True, **settings)  # type: ignore[arg-type]
    words = [
        "train", str(log), "--budget", "9kB", "--mode", target, "--epochs", "1", "--quiet", "--json", "--run",
        str(tmp_path / "run"), "--set", "ks=[5]", "--set", f"recipe={json.dumps(SHORT | {'epochs': 1})}",
        "--set", "method_settings.init=uniform",
    ]  # fmt: skip
    done = CliRunner().invoke(get_command(build_app()), words)
    assert done.exit_code == 0, done.output
    record = json.loads(done.stdout)
    assert model.record["digest"] == record["digest"]
    assert (model.record["config"]["dim"], model.record["config"]["density"]) != (128, 0.125)
    assert model.record["test"] == record["test"]


def test_what_is_given_beside_a_budget_stands(log: Path, capsys: pytest.CaptureFixture) -> None:
    model = sparserec.fit(
        log, budget=9_000, dim=8, density=0.5, epochs=1, ks=(5,), method="static", recipe=SHORT
    )
    assert (model.run.config.dim, model.run.config.density) == (8, 0.5)
    assert "density 0.5 was given and stands" in capsys.readouterr().err


def test_a_run_that_cannot_fit_is_refused_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sparserec.planning.settle.usable_bytes", lambda: 5_000_000)
    small = {"dim": 8, "epochs": 1, "ks": (5,), "method": "static", "recipe": SHORT, "quiet": True}
    with pytest.raises(SettingError, match=r"5 MB are free[\s\S]*`force`"):
        sparserec.fit(small_pairs(), folder=tmp_path / "run", **small)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())
    sparserec.fit(small_pairs(), folder=tmp_path / "run", force=True, **small)  # type: ignore[arg-type]
    assert (tmp_path / "run" / "record.json").exists()


def test_a_long_factorisation_is_shortened_and_said_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr("sparserec.planning.settle.MOST_NMF_WORK", 1e-9)
    model = sparserec.fit(small_pairs(), base="lightgcn", dim=8, epochs=1, ks=(5,), recipe=SHORT)
    assert model.run.config.method_settings == {"nmf_iterations": 3}
    assert "3 iterations instead of 50" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"budget": "1XB"}, "1XB"),
        ({"budget": -5}, "-5"),
        ({"budget": "1MB", "mode": "phones"}, "mode 'phones': a file to ship is one of items or full"),
    ],
)
def test_a_mistyped_wish_is_told_before_anything_is_read(wrong: dict, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        sparserec.fit("no-such-file.csv", **wrong)


def test_too_small_a_budget_names_the_least() -> None:
    with pytest.raises(SettingError, match=r"a budget of 10 bytes is too small .*the least is"):
        sparserec.fit(small_pairs(), budget=10, quiet=True)


QUICK = {"base": "lightgcn", "dim": 8, "epochs": 1, "ks": (5,), "method": "static", "recipe": SHORT}


def test_a_frame_with_own_names_and_a_frame_of_titles(capsys: pytest.CaptureFixture) -> None:
    log = pandas.DataFrame(small_pairs(), columns=["who", "thing"])
    items = sorted(set(log["thing"]))
    about = {"id": items, "title": [f"Thing {item}" for item in items], "tags": [["a", "b"]] * len(items)}
    for metadata in (pandas.DataFrame(about), polars.DataFrame(about), about):
        model = sparserec.fit(log, user_col="who", item_col="thing", metadata=metadata, quiet=True, **QUICK)
        found = model.recommend(history=["i02"], tags="b", k=2)
        assert found.titles == [f"Thing {item}" for item in found.ids]
    assert model.run.config.read == {"user_col": "who", "item_col": "thing"}
    with pytest.raises(MissingColumnError, match="metadata: expected columns id, title and/or tags"):
        sparserec.fit(log, user_col="who", item_col="thing", metadata=log, quiet=True, **QUICK)


def test_values_of_a_matrix_are_spoken_of(capsys: pytest.CaptureFixture) -> None:
    pairs = np.array([(int(user[1:]), int(item[1:])) for user, item in small_pairs()])
    values = np.ones(len(pairs))
    matrix = scipy.sparse.csr_matrix((values, pairs.T))
    sparserec.fit(matrix, **QUICK)
    assert "not used" not in capsys.readouterr().err
    matrix.data[3] = 5
    sparserec.fit(matrix, **QUICK)
    assert "ratings (value) are not used, every row counts" in capsys.readouterr().err


def test_nobody_is_warned_of_a_figure_less(tmp_path: Path) -> None:
    """matplotlib is an extra: a training without it says so in a line, and a quiet one does not."""
    program = (
        "import sys, warnings; warnings.simplefilter('error', UserWarning); sys.modules['matplotlib'] = None\n"
        "import sparserec\n"
        f"log = {small_pairs()!r}\n"
        f"sparserec.fit(log, **{QUICK!r})\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "no figures were drawn: figures need matplotlib: pip install" in done.stderr


def test_a_choice_that_takes_time_says_what_it_is(capsys: pytest.CaptureFixture) -> None:
    sparserec.fit(small_pairs(), dim=8, epochs=1, ks=(5,), method="static", recipe=SHORT)
    said = capsys.readouterr().err
    assert said.index("choosing the temperature") < said.index("choosing lengths") < said.index("evaluating")


def test_weights_are_kept_and_change_what_is_learnt(tmp_path: Path) -> None:
    """Everybody likes both shelves, but one of them counts a hundred times as much: it is what is recommended."""
    rng = np.random.default_rng(0)
    users, items = np.nonzero(rng.random((60, 24)) < 0.4)
    log = pandas.DataFrame({"user": users, "item": items, "plays": np.where(items < 12, 100, 1)})
    settings = {"base_settings": {"temperature": 0.5}, "dim": 8, "method": "dense", "ks": (5,), "quiet": True}
    folder = tmp_path / "run"
    heavy = sparserec.fit(log, weight_col="plays", folder=folder, epochs=20, **settings)
    plain = sparserec.fit(log, epochs=20, **settings)
    everybody = np.unique(users)

    def shelf(model: sparserec.Model) -> float:
        return float((model.recommend(everybody, k=5, exclude_seen=False).ids < 12).mean())

    assert shelf(heavy) > 0.7 and shelf(plain) < 0.6
    kept = sparserec.load(folder)
    assert isinstance(kept, sparserec.Model) and kept.record.config["read"] == {"weight_col": "plays"}
    assert set(kept.run.split.train.weights.tolist()) == {1.0, 100.0}  # type: ignore[union-attr]
