"""Compiled loops work where nothing can be written, and all are compiled in one way."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from sparserec.compiled import kept_in

SOURCE = Path(__file__).parents[1] / "src" / "sparserec"
CHILD = """
from importlib import import_module
from pathlib import Path
import numpy as np
import sparserec
from sparserec.compiled import kept_in
from sparserec.counter import key_of, uniform_at

root = Path(sparserec.__file__).parent
for path in sorted(root.rglob("*.py")):
    if "compiled import compiled" in path.read_text():
        import_module(".".join(("sparserec", *path.relative_to(root).with_suffix("").parts)))
place = np.zeros(3, np.int64)
print(root, kept_in(), uniform_at(key_of(1, 2), place, place, 1.0).shape)
"""


def test_loops_are_compiled_where_nothing_can_be_written(tmp_path: Path) -> None:
    """As in a container: the installation is read-only, there is no home, and NUMBA_CACHE_DIR is of no use.

    Read-only for the superuser too, who may run these tests: a file lies where each folder of caches would be made.
    """
    copy = tmp_path / "installed" / "sparserec"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [copy, *(path for path in copy.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").write_text("")
    blocked = str(tmp_path / "installed" / "sparserec" / "__pycache__")
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(tmp_path / "installed"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": blocked,
        "NUMBA_CACHE_DIR": f"{blocked}/cache",
    }
    ended = subprocess.run(
        [sys.executable, "-c", CHILD], env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == f"{copy} None (3,)\n"


def test_loops_are_kept_where_they_can_be() -> None:
    folder = kept_in()
    assert folder is not None and folder.is_dir()


def test_there_is_one_way_to_compile() -> None:
    others = [
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if "njit" in path.read_text(encoding="utf-8") and path.name != "compiled.py"
    ]
    assert not others, "use sparserec.compiled: " + ", ".join(others)
