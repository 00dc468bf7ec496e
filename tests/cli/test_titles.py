"""Items by title: from runs and files, alone, repeated, among several, and asked about on a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import sparserec
from sparserec.serving import NamedItem, QuestionError
from sparserec.serving.titles import matching_titles

TITLES = {
    "shop1": "Star Wars (1977)", "shop4": "Return to Star Wars (1983)", "shop7": "Birds, The (1963)", "shop3": "shop2",
}  # fmt: skip


@pytest.fixture(scope="module")
def titled(call: Callable, log: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run whose items have titles, a file of its items and a file of one person."""
    folder = tmp_path_factory.mktemp("titled")
    rows = [f'shop{n},"{TITLES.get(f"shop{n}", f"Bakery {n}")}"\n' for n in range(30)]
    (folder / "titles.csv").write_text("id,title\n" + "".join(rows))
    words = (
        "--metadata",
        folder / "titles.csv",
        "--base",
        "lightgcn",
        "--method",
        "static",
        "--dim",
        "8",
        "--epochs",
        "1",
        "--quiet",
    )
    made = {"run": folder / "run", "file": folder / "items.srec", "person": folder / "person.srec"}
    exact = ("--bits", "8", "--keep", "8", "--quiet")
    for command in (
        ("train", log, "--run", made["run"], *words),
        ("export", made["run"], "--out", made["file"], *exact),
        ("export", made["run"], "--out", made["person"], "--mode", "personal", "--user", "person4", *exact),
    ):
        result = call(*command)
        assert result.exit_code == 0, result.exception
    return made


@pytest.mark.parametrize("kind", ["run", "file"])
@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["the birds"], ["shop7"]),
        (["Birds, The (1963)"], ["shop7"]),  # a comma of the title separates nothing
        (["shop2"], ["shop2"]),  # an id comes before a title
        (["star wars 1977"], ["shop1"]),
        (["shop5,the birds,bakery 11"], ["shop5", "shop7", "shop11"]),
        (["shop5", "the birds", "shop8,shop9"], ["shop5", "shop7", "shop8", "shop9"]),
    ],
)
def test_a_title_names_its_item(
    ask: Callable, titled: dict[str, Path], kind: str, typed: list[str], meant: list[str]
) -> None:
    words = [word for one in typed for word in ("--history", one)]
    by_title, by_id = (
        ask("recommend", titled[kind], *more, "--k", "5") for more in (words, ("--history", ",".join(meant)))
    )
    assert by_title["history"] == meant and by_title == by_id


@pytest.mark.parametrize("kind", ["run", "file"])
def test_several_titles_are_listed_where_nobody_can_be_asked(
    call: Callable, titled: dict[str, Path], kind: str
) -> None:
    for words in (
        ("recommend", titled[kind], "--history", "star wars"),
        ("similar", titled[kind], "--item", "star wars"),
    ):
        refused = call(*words).exception
        assert isinstance(refused, QuestionError)
        assert "2 titles fit 'star wars'" in str(refused) and "give the id" in str(refused)
        assert "Star Wars (1977) (shop1)" in str(refused) and "(shop4)" in str(refused)
    many = str(call("recommend", titled[kind], "--history", "bakery").exception)
    assert "26 titles fit" in many and "and 14 more" in many


def _all_of(terminal: int) -> Iterator[str]:
    """What was written to it; reading ends with an error, or with nothing, where the other side is closed."""
    with suppress(OSError):
        while written := os.read(terminal, 10_000):
            yield written.decode()


def test_somebody_on_a_terminal_is_asked(titled: dict[str, Path]) -> None:
    ours, theirs = pty.openpty()
    command = [
        sys.executable,
        "-m",
        "sparserec",
        "recommend",
        str(titled["file"]),
        "--history",
        "star wars",
        "--k",
        "3",
    ]
    child = subprocess.Popen(command, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, text=True)
    os.close(theirs)
    os.write(ours, b"7\n2\n")  # there is no seventh: it asks again
    answer, _ = child.communicate(timeout=120)
    asked = "".join(_all_of(ours))
    os.close(ours)
    assert child.returncode == 0 and "2 titles fit 'star wars'" in asked and asked.count("which one") == 2
    chosen = sparserec.load(titled["file"]).recommend(history=["shop4"], k=3)
    assert [line.split()[1] for line in answer.splitlines()[2:5]] == chosen.ids


def test_similar_takes_a_title(ask: Callable, titled: dict[str, Path]) -> None:
    for kind in ("run", "file"):
        by_title, by_id = (ask("similar", titled[kind], "--item", name) for name in ("the birds", "shop7"))
        assert by_title == by_id


def test_python_finds_items_by_title(titled: dict[str, Path]) -> None:
    for kind in ("run", "file"):
        model = sparserec.load(titled[kind])
        assert model.find("STAR WARS (1977)") == [NamedItem("shop1", "Star Wars (1977)")]
        assert [one.id for one in model.find("star wars")] == ["shop1", "shop4"]
        assert model.find("shop2") == [NamedItem("shop2", "Bakery 2")] and model.find("nothing like it") == []


def test_the_user_of_a_personal_file_need_not_be_named(ask: Callable, titled: dict[str, Path]) -> None:
    found = ask("recommend", titled["person"], "--k", "4")
    assert found["basis"] == "trained" and len(found["items"]) == 4


def test_words_of_a_title() -> None:
    titles = ["The Matrix Reloaded (2003)", "Matrix, The (1999)", "Automatrix", "An Officer", "Amélie"]
    assert matching_titles("the matrix", titles) == [1, 0] and matching_titles("matrix", titles) == [1, 0]
    assert matching_titles("Matrix (1999)", titles) == [1] and matching_titles("reloaded!", titles) == [0]
    assert matching_titles("officer, an", titles) == [3] and matching_titles("AMÉLIE", titles) == [4]
    assert matching_titles("", titles) == matching_titles("...", titles) == []
