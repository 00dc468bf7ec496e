"""The examples in the docstrings of the public names are run, on a small trained model."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import pandas
import pytest
from kinds_toy import small_pairs

import sparserec
from sparserec.serving import Explanation, ManyRecommendations

PUBLIC = [*sorted(name for name in sparserec.__all__ if name not in ("SparserecError", "FileModel"))]


@pytest.mark.parametrize("name", [*PUBLIC, "AnyModel", "ManyRecommendations"])
def test_every_example_gives_what_it_says(model: sparserec.Model, tmp_path: Path, name: str) -> None:
    thing = getattr(sparserec, name, None) or getattr(sparserec.serving, name)
    found = doctest.DocTestFinder().find(thing, name, module=False)  # type: ignore[arg-type]
    frame = pandas.DataFrame(small_pairs(), columns=["who", "place"])
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    output: list[str] = []
    tried = 0
    for one in found:
        one.globs = {
            "sparserec": sparserec, "model": model, "again": model, "frame": frame, "folder": tmp_path,
        }  # fmt: skip
        tried += runner.run(one, out=output.append).attempted
    assert not output, "".join(output)
    assert tried > 0, f"{name} has no example"


def without_example(kind: Any) -> list[str]:
    """Public methods of a class that no docstring, its own or an inherited one, shows at work."""
    return [
        name
        for name in vars(kind)
        if not name.startswith("_") and (callable(getattr(kind, name)) or isinstance(vars(kind)[name], property))
        and ">>>" not in (getattr(kind, name).__doc__ or "")
    ]  # fmt: skip


def test_no_question_is_without_an_example() -> None:
    assert set(without_example(sparserec.serving.AnyModel)) <= {"n_items"}
    inherited = set(vars(sparserec.serving.AnyModel))
    plain = {"record"}  # what a run wrote down is told by docs/walk.md
    assert set(without_example(sparserec.Model)) <= inherited | plain
    for kind in (sparserec.Recommendations, ManyRecommendations, Explanation):
        assert kind.__doc__
