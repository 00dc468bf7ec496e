"""A stranger's encoding, that of docs/guide/adding-an-encoding.md: its two files and nothing else."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from absent import absent
from sparserec import device
from sparserec.data import read_source
from sparserec.device import READERS
from sparserec.encodings import Encoding, Material, find_encoding
from sparserec.errors import SettingError
from sparserec.export import ExportOptions, export_run, write_page
from sparserec.runs import Trained, open_run, train_run
from sparserec.training import build_config

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "guide" / "adding-an-encoding.md"
SIGNS = Encoding(1, 8, "shared", "signs:Signs")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    pairs = [(user, item) for user in range(40) for item in range(30) if (user - item) % 5 < 2]
    folder = tmp_path_factory.mktemp("runs") / "run"
    train_run(
        build_config({"base": "mf", "method": "dense", "dim": 8, "recipe": {"epochs": 2}}, "here"),
        folder,
        source=read_source(pairs),
    )
    return open_run(folder)


@pytest.fixture
def strangers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the path with the two files; whatever they register is gone afterwards."""
    text = PAGE.read_text(encoding="utf-8")
    for language, ending in (("python", "py"), ("js", "js")):
        block = re.search(rf"```{language}\n(.*?)```", text, re.DOTALL)
        assert block is not None
        (tmp_path / f"signs.{ending}").write_text(block[1], encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "signs", raising=False)
    known = dict(READERS)
    yield tmp_path
    READERS.clear()
    READERS.update(known)


def entry_point(folder: Path) -> None:
    info = folder / "theirs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[sparserec.encodings]\nsigns = signs:Signs\n", encoding="utf-8")


def answers(path: Path) -> list[list[object]]:
    found = device.load(path).recommend(history=[3, 8], k=5)
    return [[one.id, one.score] for one in found]


def test_a_file_of_it_holds_signs(run: Trained, strangers: Path) -> None:
    report = export_run(run, strangers / "m.srec", ExportOptions(encoding=SIGNS, min_users=0))
    assert report.encoding["kind"] == "signs:Signs" and report.quality["file"]["folded"]["ndcg@20"] > 0
    made = find_encoding("signs:Signs").encode(SIGNS, Material(run.recommender.vectors(run.graph, run.table)))
    vectors = run.recommender.vectors(run.graph, run.table).items
    np.testing.assert_array_equal(made.read[0] > 0, vectors > 0)  # type: ignore[union-attr]
    assert device.load(strangers / "m.srec").card()["tables"]["score"]["encoding"] == "signs"


def test_an_entry_point_makes_budgets_try_it_and_files_readable(run: Trained, strangers: Path) -> None:
    entry_point(strangers)
    report = export_run(run, strangers / "m.srec", ExportOptions(budget=9_000, learn=False))
    assert "signs" in {row["kind"] for row in report.curve}
    export_run(run, strangers / "m.srec", ExportOptions(encoding=Encoding(1, 8, "shared", "signs")))
    READERS.pop("sign")  # as in a process that has only just begun
    assert len(answers(strangers / "m.srec")) == 5


def test_what_reads_it_needs_numpy_alone(strangers: Path) -> None:
    code = (
        "import sys, signs; print([name for name in ('torch', 'scipy', 'pydantic') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], cwd=strangers, capture_output=True, text=True)
    assert found.stdout.strip() == "[]", found.stderr


def test_without_its_package_a_file_is_refused(run: Trained, strangers: Path) -> None:
    export_run(run, strangers / "m.srec", ExportOptions(encoding=SIGNS))
    READERS.pop("sign")
    with pytest.raises(device.FileError, match="score"):
        device.load(strangers / "m.srec")


def test_the_twin_reads_what_python_wrote_and_so_does_a_page(run: Trained, strangers: Path) -> None:
    node = shutil.which("node")
    if node is None:
        absent("node is not installed: the twin is not tried")
    export_run(run, strangers / "m.srec", ExportOptions(encoding=SIGNS))
    write_page(strangers / "m.html", strangers / "m.srec")
    (strangers / "node_modules").mkdir()
    (strangers / "node_modules" / "sparserec").symlink_to(ROOT / "js", target_is_directory=True)
    (strangers / "ask.mjs").write_text(
        """import { readFileSync } from 'node:fs'
import { loadFile, READERS } from 'sparserec/node'
const output = await loadFile('m.srec').catch(error => error.name)
READERS.sign = (await import('./signs.mjs')).readSigns
const model = await loadFile('m.srec')
model.selfTest()
const page = readFileSync('m.html', 'utf-8')
const engine = page.match(/const sparserecEngine = [^]*?(?=<[/]script>)/)[0]
const open = new Function(`${engine}; return sparserecEngine.openEngine`)()
const inPage = await open(page.match(/base64">([^<]*)</)[1])
inPage.selfTest()
console.log(JSON.stringify([output, model.recommend({ history: [3, 8], k: 5 }).map(({ id, score }) => [id, score])]))
""",
        encoding="utf-8",
    )
    shutil.copy(strangers / "signs.js", strangers / "signs.mjs")
    done = subprocess.run([str(node), "ask.mjs"], cwd=strangers, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ["MissingTensor", answers(strangers / "m.srec")]


@pytest.mark.parametrize(
    ("kind", "output"),
    [
        ("sings", "unknown encoding 'sings'; known: gaps, .*or package.module:Class"),
        ("signs:np", "signs has no class np"),
        ("json:JSONDecoder", "no `candidates`; inherit from VectorKind"),
    ],
)
def test_a_wrong_name_is_told(kind: str, output: str, run: Trained, strangers: Path) -> None:
    options = ExportOptions(encoding=Encoding(4, 8, "shared", kind))
    with pytest.raises(SettingError, match=output):
        export_run(run, strangers / "m.srec", options)
