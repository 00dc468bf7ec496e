"""The notebooks of the site run from top to bottom, each in an empty folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from fresh import ROOT

pytestmark = pytest.mark.release

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="pip install 'sparserec[docs]'")
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "outputs are made where it is run"
    NotebookClient(notebook, timeout=1800, resources={"metadata": {"path": str(tmp_path)}}).execute()
