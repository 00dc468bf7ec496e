"""sparserec sweep --list and sparserec table, on result files as they are in the repository."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

RESULTS = Path(__file__).resolve().parents[2] / "results"
QUEUE = "results = 'out.jsonl'\n" + "".join(
    f"[[run]]\nname = '{name}'\npriority = {priority}\n" for name, priority in (("alpha", 1), ("beta", 2))
)


@pytest.mark.parametrize(("words", "names"), [((), ["beta", "alpha"]), (("--only", "alph"), ["alpha"])])
def test_a_list_shows_what_would_be_trained(
    call: Callable, tmp_path: Path, words: tuple[str, ...], names: list[str]
) -> None:
    (tmp_path / "queue.toml").write_text(QUEUE)
    shown = call("sweep", tmp_path / "queue.toml", "--list", *words)
    assert shown.exit_code == 0, shown.exception
    assert [line.split()[-1] for line in shown.stdout.splitlines()] == names


def test_a_table_of_all_files_says_what_is_no_result(call: Callable) -> None:
    files = [RESULTS / name for name in ("core.jsonl", "device_curve.jsonl")]
    shown, alone = call("table", *files), call("table", files[0])
    assert shown.exit_code == 0, shown.exception
    assert shown.stdout == alone.stdout and alone.stderr == ""
    assert "device_curve.jsonl: " in shown.stderr and "no results of runs" in shown.stderr


def test_what_is_no_file_is_named(call: Callable, tmp_path: Path) -> None:
    for words, message in (
        (("sweep", tmp_path), "cannot be read as a configuration file"),
        (("table", tmp_path / "none.jsonl"), "none.jsonl: no such file of results"),
    ):
        refused = call(*words)
        assert refused.exit_code != 0 and message in str(refused.exception)
