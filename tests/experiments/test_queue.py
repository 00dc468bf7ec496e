"""The queue trains in priority order, skips what is done, waits for benchmarks, and says what is wrong before it
starts.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from sparserec.errors import DataError, SettingError
from sparserec.experiments import queue as queues
from sparserec.experiments import search
from sparserec.experiments.lock import is_locked
from sparserec.experiments.queue import read_queue, read_queues, run_queue
from sparserec.experiments.results import draw_sizes, finished_names, markdown_table
from sparserec.runs import read_results, recorded_path, recorded_users

RESULTS = Path(__file__).resolve().parents[2] / "results"
TINY = """
results = "out.jsonl"
runs = "runs"
[defaults]
data = "log.csv"
dim = 8
method = "small_dense"
density = 0.5
recipe = { epochs = 1, batch_size = 100 }
[[run]]
name = "second"
seed = 1
[[run]]
name = "first"
priority = 5
"""


@pytest.fixture
def queue_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = [f"u{user},i{item}" for user in range(30) for item in range(30) if (user + item) % 3 == 0]
    (tmp_path / "log.csv").write_text("user_id,item_id\n" + "\n".join(rows) + "\n")
    (tmp_path / "queue.toml").write_text(TINY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPARSEREC_CACHE", str(tmp_path / "cache"))
    return tmp_path / "queue.toml"


def test_priority_order_and_skipping_what_is_done(queue_file: Path, drawing: None) -> None:
    assert [run.name for run in read_queue(queue_file)] == ["first", "second"]
    assert run_queue([queue_file], threads=1) == 0
    results = read_results(queue_file.parent / "out.jsonl")
    assert [result["name"] for result in results] == ["first", "second"]
    assert [result["config"]["seed"] for result in results] == [0, 1]
    for field in ("config", "environment", "split", "test", "bytes", "memory", "parameters", "export"):
        assert field in results[0]
    assert str(queue_file.parent) not in json.dumps(results[0]["data"])
    users = [recorded_users(recorded_path(queue_file.parent / "out.jsonl", one["name"])) for one in results]
    for one, result in zip(users, results):
        assert one.values.mean() == pytest.approx(result["test"]["int8"]["ndcg@20"], abs=1e-5)
    before = (queue_file.parent / "out.jsonl").read_text()
    assert run_queue([queue_file], threads=1) == 0
    assert (queue_file.parent / "out.jsonl").read_text() == before
    table = markdown_table(results)
    assert table.splitlines()[0].startswith("| run |") and len(table.splitlines()) == 4
    draw_sizes(results, queue_file.parent / "sizes.png")
    assert (queue_file.parent / "sizes.png").read_bytes().startswith(b"\x89PNG")


def test_several_files_make_one_queue(queue_file: Path) -> None:
    """Priorities count across files; the same name in two files with their own folders is two runs."""
    other = queue_file.parent / "other.toml"
    other.write_text(
        TINY.replace("out.jsonl", "other.jsonl").replace('runs = "runs"', 'runs = "others"')
        + '[[run]]\nname = "between"\npriority = 3\n'
    )
    order = [(run.results.name, run.name) for run in read_queues([queue_file, other])]
    assert order == [
        ("out.jsonl", "first"),
        ("other.jsonl", "first"),
        ("other.jsonl", "between"),
        ("out.jsonl", "second"),
        ("other.jsonl", "second"),
    ]
    assert run_queue([queue_file, other], threads=1, only="first") == 0
    assert finished_names(queue_file.parent / "out.jsonl") == {"first"}
    assert finished_names(queue_file.parent / "other.jsonl") == {"first"}


def test_a_result_file_is_read_once_for_all_its_runs(
    queue_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two trainings a queue of hundreds would otherwise read megabytes hundreds of times."""
    more = "".join(f'[[run]]\nname = "more-{number}"\n' for number in range(20))
    queue_file.write_text(TINY + more)
    (queue_file.parent / "out.jsonl").write_text('{"name": "more-3"}\n{"name": "first"}\n')
    read: list[Path] = []
    monkeypatch.setattr(queues, "finished_names", lambda path: read.append(path) or finished_names(path))
    left = {run.name for run in queues.unrecorded(read_queues([queue_file]))}
    assert left == {"second"} | {f"more-{number}" for number in range(20) if number != 3}
    assert read == [queue_file.parent / "out.jsonl"]


def test_a_failed_run_does_not_stop_the_others(queue_file: Path) -> None:
    queue_file.write_text(TINY + '[[run]]\nname = "broken"\npriority = 9\ndata = "missing.csv"\n')
    assert run_queue([queue_file], threads=1) == 1
    assert finished_names(queue_file.parent / "out.jsonl") == {"first", "second"}
    assert "missing.csv" in (queue_file.parent / "runs" / "broken.log").read_text()


def test_the_queue_waits_while_a_benchmark_measures(
    queue_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A running child is asked to stop, nothing starts while the lock is held, and the run is finished afterwards."""
    lock = queue_file.parent / "lock"
    monkeypatch.setattr(queues, "holder", lambda: 1 if lock.exists() else None)
    monkeypatch.setattr(queues, "POLL_SECONDS", 0.05)
    starts = []
    real = subprocess.Popen

    def watched(command: list[str], **options: object) -> subprocess.Popen:
        assert not lock.exists()
        starts.append(command)
        child = real(command, **options)  # type: ignore[call-overload]
        if len(starts) == 1:
            lock.touch()
            threading.Thread(target=lambda: (time.sleep(1.5), lock.unlink())).start()
        return child

    monkeypatch.setattr(queues.subprocess, "Popen", watched)
    assert run_queue([queue_file], threads=1, only="first") == 0
    assert finished_names(queue_file.parent / "out.jsonl") == {"first"}
    assert len(starts) >= 2


def sweeping_first(queue_file: Path) -> list[str]:
    """The words of a process that trains the first run."""
    words = ["sweep", str(queue_file), "--only", "first", "--threads", "1"]
    return [sys.executable, "-m", "sparserec", *words]


def test_a_stopped_queue_takes_its_run_along(queue_file: Path) -> None:
    """SIGTERM to the queue ends the training too, and the same command finishes it."""
    queue_file.write_text(TINY.replace("epochs = 1,", "epochs = 800, patience = 800,"))
    child = queue_file.parent / "runs" / "first" / "events.jsonl"
    queue = subprocess.Popen(sweeping_first(queue_file), stderr=subprocess.PIPE, text=True)
    while not child.exists():
        assert queue.poll() is None
        time.sleep(0.05)
    queue.terminate()
    _, output = queue.communicate(timeout=60)
    assert queue.returncode == 2 and "the same command goes on" in output
    size = child.stat().st_size
    time.sleep(1.0)
    assert child.stat().st_size == size
    assert not finished_names(queue_file.parent / "out.jsonl")
    assert run_queue([queue_file], threads=1, only="first") == 0


def test_two_queues_on_one_file_record_a_run_once(queue_file: Path, capsys: pytest.CaptureFixture) -> None:
    """The second finds the training of the first, says that it waits, and then has nothing left to do."""
    other = subprocess.Popen(sweeping_first(queue_file), stderr=subprocess.DEVNULL)
    log = queue_file.parent / "runs" / "first.log"
    while not is_locked(log):
        assert other.poll() is None
        time.sleep(0.02)
    assert not finished_names(queue_file.parent / "out.jsonl"), "it is being trained"
    assert run_queue([queue_file], threads=1, only="first") == 0
    assert other.wait(300) == 0
    assert [row["name"] for row in read_results(queue_file.parent / "out.jsonl")] == ["first"]
    assert "first: another process is training it, waiting" in capsys.readouterr().err


RATES = "results='r'\n[[search]]\nname='a'\nrates=[0.1, 0.2]\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[run]]\nname='a'\n", "needs results"),
        ("results='r'\n[run]\nname='a'\n", r"q.toml: run: .*\[\[run\]\] instead of \[run\]"),
        ("results='r'\n[search]\nname='a'\n", r"q.toml: search: .*\[\[search\]\] instead"),
        ("results='r'\nrun=[1]\n", r"q.toml: run.0: .*\(got 1\)"),
        ("results=['r']\n[[run]]\nname='a'\n", r"q.toml: results: .*\(got \['r'\]\)"),
        ("results='r'\nruns=3\n", r"q.toml: runs: .*\(got 3\)"),
        ("results='r'\ndefaults=[1]\n[[run]]\nname='a'\n", r"q.toml: defaults: .*\(got \[1\]\)"),
        ("results='r'\ndefualts={}\n", "q.toml: unknown setting 'defualts'; did you mean 'defaults'"),
        ("results='r'\n[[run]]\nname='a'\npriority='high'\n", r"q.toml: run 'a': priority: .*\(got 'high'\)"),
        ("results='r'\n[[run]]\nname='a'\ndense_run=3\n", r"q.toml: run 'a': dense_run: .*\(got 3\)"),
        ("results='r'\n[[run]]\nname=['a']\n", r"q.toml: \['a'\] is no name for a run"),
        ("results='r'\n[[run]]\nname='a'\nrecipe='slow'\n", "q.toml: run 'a': unknown recipe 'slow'"),
        ("results='r'\n[[search]]\nname='a'\n", "q.toml: search 1: rates: Field required"),
        (RATES + "[[search]]\nname='b'\nrates=['0.1', 0.2]\n", r"q.toml: search 2: rates.0: .*\(got '0.1'\)"),
        (RATES + "short_epochs='3'\n", r"q.toml: search 1: short_epochs: .*\(got '3'\)"),
        (RATES + "finish=0\n", r"q.toml: search 1: finish: .*\(got 0\)"),
        (RATES + "priority='high'\n", r"q.toml: run 'a@0.1-short': priority: .*\(got 'high'\)"),
        *(
            (RATES + f"[[run]]\nname='{name}'\n", f"q.toml: search 'a' .* run '{name}' already")
            for name in ("a@0.1-short", "a@0.2", "a=1e-05")
        ),
        (RATES + RATES.partition("\n")[2].replace("0.", "0.4"), "q.toml: search 'a' .* already"),
        (RATES.replace("0.2", "0.10000001"), "q.toml: two runs are named 'a@0.1-short'"),
        ("results='r'\n[[run]]\nseed=1\n", "needs a name"),
        ("results='r'\n[[run]]\nname='a'\n[[run]]\nname='a'\n", "name of its own"),
        ("results='r'\n[[run]]\nname='a'\nmethud='dense'\n", "did you mean 'method'"),
        ("results='r'\n[[run]]\nname='a'\nmethod='sparse'\n", "unknown method"),
        ("results='r'\n[[run]]\nname='a'\nmethod_settings={inti='nmf'}\n", "did you mean 'init'"),
        ("results=", "not valid TOML"),
        *(
            (f"results='r'\n[[{kind}]]\nname={name}\nrates=[1.0, 2.0]\n", "no name for a run")
            for kind, name in (
                ("search", "'../x'"),
                ("search", "'a/b'"),
            )
        ),
        *(
            (f"results='r'\n[[run]]\nname={name}\n", "no name for a run")
            for name in ("'../x'", "'a/b'", "'/tmp/x'", "'..'", "'.'", "'-x'", "5", '"a\\u0000"', '"a\\n"')
        ),
    ],
)
def test_mistakes_in_a_queue_are_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "q.toml").write_text(text)
    with pytest.raises(SettingError, match=message):
        read_queue(tmp_path / "q.toml")


def test_names_that_only_look_like_those_of_a_search_are_free(tmp_path: Path) -> None:
    (tmp_path / "q.toml").write_text(RATES + "".join(f"[[run]]\nname='{name}'\n" for name in ("a", "a@long")))
    names = [run.name for run in read_queue(tmp_path / "q.toml")]
    assert names == ["a", "a@long", "a@0.1-short", "a@0.2-short"]


def test_a_damaged_result_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('{"name": "a"}\n{"name": "b"\n')
    with pytest.raises(DataError, match="line 2"):
        read_results(path)


def test_a_dense_run_of_the_queue_is_used_once_it_is_there(queue_file: Path) -> None:
    pruned = '[[run]]\nname = "pruned"\npriority = {}\nmethod = "magnitude"\ndense_run = "runs/whole"\n'
    queue_file.write_text(
        TINY
        + '[[run]]\nname = "whole"\npriority = 8\nmethod = "dense"\n'
        + pruned.format(7)
        + pruned.format(9).replace("pruned", "too-early")
    )
    for name in ("too-early", "whole", "pruned"):
        assert run_queue([queue_file], threads=1, only=name) == 0
    events = {
        name: (queue_file.parent / "runs" / name / "events.jsonl").read_text()
        for name in ("too-early", "pruned")
    }
    assert "taken_from" in events["pruned"] and "taken_from" not in events["too-early"]
    rows = {row["name"]: row for row in read_results(queue_file.parent / "out.jsonl")}
    assert rows["pruned"]["test"] == rows["too-early"]["test"]


SEARCH = (
    TINY.split("[[run]]")[0].replace("epochs = 1,", "epochs = 2,")
    + '[[search]]\nname = "small"\npriority = 3\nrates = [0.01, 0.04]\nshort_epochs = 1\nfinish = 1\n'
)


def test_a_search_tries_rates_finishes_the_best_and_opens_one_test_set(
    queue_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MOST_RATES", 2)  # an edge that wins would be extended
    queue_file.write_text(SEARCH)
    assert [run.name for run in read_queue(queue_file)] == ["small@0.01-short", "small@0.04-short"]
    assert run_queue([queue_file], threads=1) == 0
    rows = read_results(queue_file.parent / "out.jsonl")
    shorts, (full, opened) = rows[:-2], rows[-2:]
    assert {row["name"].endswith("-short") and row["epochs"][0]["epochs"] == 1 for row in shorts} == {True}
    best = max(
        shorts, key=lambda row: (row["epochs"][-1]["best_score"], -row["config"]["recipe"]["learning_rate"])
    )
    assert full["name"] == best["name"].removesuffix("-short") and full["epochs"][0]["epochs"] == 2
    assert all(row["test"] == {} and row["test_opened"] is None for row in [*shorts, full])
    assert opened["name"] == "small=0.04" and opened["test_opened"] is not None
    assert opened["config"] == full["config"] and opened["test"]["float"]["ndcg@20"] > 0
    assert (queue_file.parent / "runs" / full["name"] / "per_user.npz").exists()
    assert not (queue_file.parent / "runs" / "small=0.04").exists(), "nothing was trained for it"


def test_a_winner_whose_folder_is_gone_is_trained_again(
    queue_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MOST_RATES", 2)
    queue_file.write_text(SEARCH)
    assert run_queue([queue_file], threads=1) == 0
    results = queue_file.parent / "out.jsonl"
    *others, opened = results.read_text().splitlines(keepends=True)
    results.write_text("".join(others))  # as on another machine: rows were committed, folders were not
    shutil.rmtree(queue_file.parent / "runs")
    assert run_queue([queue_file], threads=1) == 0
    before, again = json.loads(opened), read_results(results)[-1]
    assert again["name"] == before["name"] and again["test"] == before["test"]
    assert again["config"]["recipe"] == before["config"]["recipe"]


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.toml")), ids=lambda path: path.stem)
def test_queues_of_the_repository_can_be_trained(path: Path) -> None:
    """A mistake in one would show after hours of waiting for the others."""
    assert read_queue(path)
