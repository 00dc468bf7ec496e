"""Text of somebody else's file never steers the terminal it is printed on, and never stops a command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sparserec
from sparserec.device import ModelParts, encode_table, model_bytes
from sparserec.device.container import seal
from sparserec.visible import visible

CLEAR = "\x1b[2J\x1b]0;owned\x07"
TITLES = [f"{CLEAR}first", "two\nlines\r", "\u202egnirts", "\x9b31m", "\u2028", "👩‍🍳 שלום"]


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A file with escapes wherever text can stand, and half a pair of surrogates in the name of its recommender."""
    vectors = np.random.default_rng(0).normal(size=(6, 4))
    ids = [f"{CLEAR}{number}" for number in range(6)]
    card = {f"{CLEAR}key": CLEAR, "list": [CLEAR], "nested": {"half": "\ud800", "\udfff": 1}}
    parts = ModelParts(
        "items", f"{CLEAR}base", np.ones(1), score=encode_table(vectors, 8), degree=np.ones(6, int),
        item_ids=ids, titles=TITLES, card={"producer": "test"},
    )  # fmt: skip
    data = model_bytes(parts)
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    model = json.loads(header["__metadata__"]["model"]) | {"base": f"{CLEAR}\ud800"}
    header["__metadata__"] |= {"card": json.dumps(card), "model": json.dumps(model)}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False)
    path = tmp_path / "hostile.srec"
    path.write_bytes(seal(text.encode(), data[8 + length :]))
    return path


def run(*words: object) -> tuple[int, str]:
    command = [sys.executable, "-m", "sparserec", *map(str, words)]
    done = subprocess.run(command, capture_output=True, timeout=300)
    return done.returncode, (done.stdout + done.stderr).decode("utf-8")


def is_harmless(text: str) -> bool:
    return text == visible(text, lines=True) and "\udfff" not in text


def test_commands_print_escapes_as_text(hostile: Path) -> None:
    first = f"{CLEAR}0"
    for words in (
        ("inspect", hostile),
        ("inspect", hostile, "--json"),
        ("recommend", hostile, "--history", first, "--explain", "-k", "4"),
        ("recommend", hostile, "--history", f"{first},{CLEAR}not known", "-k", "4"),
        ("similar", hostile, "--item", first, "-k", "5"),
    ):
        code, text = run(*words)
        assert code == 0, text
        assert is_harmless(text), words
    assert "\\x1b[2J" in text and "👩‍🍳 שלום" in text, "what is harmless stays as it is"


def test_errors_print_escapes_as_text(hostile: Path) -> None:
    for words in (
        ("similar", hostile, "--item", f"{CLEAR}nothing"),
        ("similar", hostile, "--item", "i"),
        ("recommend", hostile, "--history", f"{CLEAR}nothing"),
    ):
        code, text = run(*words)
        assert code == 2 and "Traceback" not in text, text
        assert is_harmless(text), words


def test_answers_print_escapes_as_text(hostile: Path) -> None:
    model = sparserec.load(hostile)
    history = [f"{CLEAR}0"]
    assert is_harmless(str(model.recommend(history=history, k=5)))
    assert is_harmless(str(model.explain(history=history, item=f"{CLEAR}1")))
    assert len(str(model.recommend(history=history, k=5)).splitlines()) == 5, "a title is one line"


def test_what_is_shown() -> None:
    assert visible("\x1b[0m\n\x9b\ud800 é 👩‍🍳") == "\\x1b[0m\\n\\x9b\\ud800 é 👩‍🍳"
    assert visible("a\nb\x07", lines=True) == "a\nb\\x07"
