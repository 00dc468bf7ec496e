"""A newcomer's script of twenty lines, as the guide shows it: frame in, file and page out, read with numpy alone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pandas

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "guide" / "python.md"
MOST_LINES = 20
READER = """
import sys
for name in ("torch", "scipy", "sklearn", "pyarrow", "narwhals", "safetensors", "pydantic", "typer", "rich", "numba"):
    sys.modules[name] = None  # what `pip install sparserec` does not bring
import sparserec
file = sparserec.load("places.srec")
found = file.recommend(history=["p0100", "p0200"], k=5)
print(found)
print(file.recommend(history=[["p0100"], ["p0100", "p0200"]], tags="coffee", k=2).to_frame())
print(file.explain(history=["p0100"], item=found.ids[0]))
"""


def script() -> str:
    return re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1]  # type: ignore[index]


def test_the_script_is_as_short_as_it_says() -> None:
    lines = [line for line in script().splitlines() if line.strip()]
    assert len(lines) <= MOST_LINES


def test_the_script_runs_and_its_file_needs_numpy_alone(tmp_path: Path) -> None:
    from sparserec.data import make_world

    world = make_world().train
    some = world.users < 150
    log = {
        "visitor": world.user_ids.external(world.users[some]),
        "place": world.item_ids.external(world.items[some]),
        "when": world.timestamps[some],  # type: ignore[index]
    }
    info = world.item_info
    assert info is not None and info.tags is not None
    tags = ["|".join(one) for one in info.tags]
    pandas.DataFrame(log).to_csv(tmp_path / "visits.csv", index=False)
    about = {"id": world.item_ids.external(), "title": info.titles, "tags": tags}
    pandas.DataFrame(about).to_csv(tmp_path / "places.csv", index=False)
    (tmp_path / "script.py").write_text(script(), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}

    def run(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, *words], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    output = run("script.py")
    assert "95 % interval" in output and "bytes, NDCG@20" in output
    assert output.count("p0100") == 0  # nobody is told what they have
    assert (tmp_path / "places.srec").stat().st_size <= 300_000
    assert "<title>Places</title>" in (tmp_path / "places.html").read_text(encoding="utf-8")
    read = READER.replace("coffee", info.tags[0][0])
    assert output.rstrip().endswith("\n".join(run("-c", read).splitlines()[:5]))
