"""Device files of a finished run: bytes, quality, load time, milliseconds per query in numpy, Node and Chromium,
scoring memory.

    python benchmarks/device.py RUN [--out docs-table.md] [--users 1000]

Also checks that `full` ranks as the training-side evaluator does on the same quantised values, in both readers. The
benchmark lock is held only while a file is timed, a few seconds each.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sparserec import device
from sparserec.encodings import Encoding, FileQuality, encode, popularity_quality
from sparserec.evaluation import top_items
from sparserec.experiments.lock import benchmark_lock
from sparserec.export import ExportOptions, export_run
from sparserec.recommenders import Vectors
from sparserec.runs.trained import Trained, open_run

JS = Path(__file__).resolve().parents[1] / "js"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
SITE = "http://localhost/"  # nothing listens: every request is answered from the folder of the reader
ISOLATED = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
}  # a finer clock
TIME_QUESTIONS = """
  const time = (history) => {
    const start = performance.now(); model.recommend({ history, k: 20 }); return performance.now() - start
  }
  for (const history of questions) time(history)
  const median = questions.map(time).sort((a, b) => a - b)[questions.length >> 1]
"""
VARIANTS: dict[str, ExportOptions] = {
    "items int8 128 own": ExportOptions(encoding=Encoding(8, 128, "own")),
    "items int8 128": ExportOptions(encoding=Encoding(8, 128, "shared")),
    "items int8 32 own": ExportOptions(encoding=Encoding(8, 32, "own")),
    "items int8 32": ExportOptions(encoding=Encoding(8, 32, "shared")),
    "items int4 32": ExportOptions(encoding=Encoding(4, 32, "shared")),
    "items int4 24": ExportOptions(encoding=Encoding(4, 24, "shared")),
    "items int4 16": ExportOptions(encoding=Encoding(4, 16, "shared")),
    "items int4 11": ExportOptions(encoding=Encoding(4, 11, "shared")),
    "full int8": ExportOptions(mode="full", include_everyones_history=True, bits=8),
    "full int4": ExportOptions(mode="full", include_everyones_history=True, bits=4),
}


def histories(run: Trained, count: int) -> list[list[Any]]:
    """Train histories of some users, as external ids."""
    train = run.split.train
    chosen = np.random.default_rng(0).choice(train.n_users, count, replace=False)
    return [train.item_ids.external(train.items[train.users == user]).tolist() for user in chosen]


def numpy_times(path: Path, questions: list[list[Any]]) -> dict[str, float]:
    """Median load and query time, and the largest amount numpy held while it answered."""
    loads = [_seconds(lambda: device.load(path)) for _ in range(3)]
    model = device.load(path)
    model.recommend(history=questions[0])
    queries = [_seconds(lambda one=one: model.recommend(history=one)) for one in questions[1:]]  # type: ignore[misc]
    tracemalloc.start()
    model.recommend(history=questions[0])
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {
        "load_ms": 1e3 * statistics.median(loads),
        "query_ms": 1e3 * statistics.median(queries),
        "scratch_mb": held / 1e6,
    }


def node_times(path: Path, questions: list[list[Any]]) -> float | None:
    """Median milliseconds of the same questions in Node."""
    if shutil.which("node") is None:
        return None
    script = f"""
      import {{ loadFile }} from {json.dumps((JS / "node.js").as_uri())}
      const questions = {json.dumps(questions)}
      const model = await loadFile({json.dumps(str(path))})
      {TIME_QUESTIONS}
      console.log(median)
    """
    return float(_node(script))


@contextmanager
def chromium_page() -> Iterator[Any]:
    """A page of a real browser that can import the reader; None, with a printed reason, where there is no browser."""
    executable = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        executable = None
    if executable is None:
        print("no Chromium column: chromium or playwright is not installed", flush=True)
        yield None
        return
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable, args=FLAGS)
        yield browser.new_page()
        browser.close()


def chromium_times(page: Any, path: Path, questions: list[list[Any]]) -> float | None:
    """Median milliseconds of the same questions in Chromium, with the reader's own modules and its streaming load."""
    if page is None:
        return None

    def respond(route: Any) -> None:
        name = route.request.url.removeprefix(SITE)
        if name == "":
            route.fulfill(body="<!doctype html>", content_type="text/html", headers=ISOLATED)
        elif name == "model.srec":
            route.fulfill(path=path, content_type="application/octet-stream")
        else:
            route.fulfill(path=JS / name, content_type="text/javascript")

    page.route(f"{SITE}**", respond)
    page.goto(SITE)
    script = f"""async (questions) => {{
      const {{ loadFromUrl }} = await import('/index.js')
      const model = await loadFromUrl('/model.srec')
      {TIME_QUESTIONS}
      return median
    }}"""
    median = page.evaluate(script, questions)
    page.unroute(f"{SITE}**")
    return float(median)


def node_lists(path: Path, users: list[Any]) -> list[list[Any]] | None:
    """Top-20 lists of known users from the JavaScript reader."""
    if shutil.which("node") is None:
        return None
    script = f"""
      import {{ loadFile }} from {json.dumps((JS / "node.js").as_uri())}
      const model = await loadFile({json.dumps(str(path))})
      console.log(JSON.stringify({json.dumps(users)}.map((user) => model.recommend({{ user, k: 20 }}).map((r) => r.id))))
    """
    return json.loads(_node(script))


def _node(script: str) -> str:
    with tempfile.NamedTemporaryFile("w", suffix=".mjs") as file:
        file.write(script)
        file.flush()
        return subprocess.run(["node", file.name], capture_output=True, text=True, check=True).stdout


def _seconds(work: Any) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def full_agrees(run: Trained, path: Path, bits: int, count: int) -> dict[str, Any]:
    """How many users' top-20 lists equal the evaluator's; where not, by how much the scores differ."""
    vectors = run.recommender.vectors(run.graph, run.table.quantised(bits))
    users = np.random.default_rng(1).choice(run.split.n_users, count, replace=False).astype(np.int32)
    items = torch.from_numpy(np.ascontiguousarray(vectors.items))
    seen = [(run.split.train.offsets(), run.split.train.items)]
    expected = top_items(lambda ids: torch.from_numpy(vectors.users[ids]), items, users, 20, seen)
    model = device.load(path)
    ids = run.split.train.user_ids.external(users).tolist()
    lists = {
        "python": [[one.id for one in model.recommend(user=user, k=20)] for user in ids],
        "node": node_lists(path, ids),
    }
    wanted = [run.split.train.item_ids.external(row).tolist() for row in expected]
    found: dict[str, Any] = {}
    for name, answers in lists.items():
        if answers is None:
            continue
        same = sum(a == b for a, b in zip(answers, wanted))
        gaps = [0.0]
        for user, answer, want in zip(users, answers, wanted):
            if (
                answer != want
            ):  # the order may differ only where float32 scores of the evaluator are all but equal
                scores = vectors.users[user] @ vectors.items.T
                a, b = (scores[run.split.train.item_ids.index_of(one)] for one in (answer, want))
                gaps.append(float(np.abs(a - b).max() / np.abs(b).max()))
        found[name] = {"same": same, "of": count, "largest_relative_gap": max(gaps)}
    return found


def measured(run: Trained, vectors: Vectors, name: str, users: int, page: Any) -> dict[str, Any]:
    """One row of the table: export, quality, and times under the lock."""
    export, truth, questions = VARIANTS[name], run.split.test, histories(run, 40)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.srec"
        report = export_run(run, path, export)
        if export.mode == "full":
            read = run.recommender.vectors(run.graph, run.table.quantised(export.bits))
            quality = FileQuality(read, run.split).metrics(truth, True)
            print(name, json.dumps(full_agrees(run, path, export.bits, users)), flush=True)
        else:
            quality = FileQuality(vectors, run.split, encode(vectors, export.encoding)).metrics(truth, True)
        row = {"file": name, "bytes": report.bytes, **_flat(quality)}
        with benchmark_lock():
            times = numpy_times(path, questions)
            browsers = {
                "node_ms": node_times(path, questions),
                "chromium_ms": chromium_times(page, path, questions),
            }
        return row | times | browsers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("--users", type=int, default=1000)
    parser.add_argument(
        "--only", choices=VARIANTS, nargs="+", default=list(VARIANTS), help="these files only"
    )
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    run = open_run(options.run)
    vectors = run.recommender.vectors(run.graph, run.table)
    float_quality = FileQuality(vectors, run.split).metrics(run.split.test, True)
    rows: list[dict[str, Any]] = [{"file": "float", **_flat(float_quality)}]
    popular = popularity_quality(run.split, run.split.test, True)
    with chromium_page() as page:
        for name in options.only:
            rows.append(measured(run, vectors, name, options.users, page))
            print(json.dumps(rows[-1]), flush=True)
    text = table(rows, popular)
    options.out.write_text(text) if options.out else print(text)


def _flat(quality: dict[str, dict[str, float]]) -> dict[str, float]:
    return {f"{group} {name}": value for group, found in quality.items() for name, value in found.items()}


def table(rows: list[dict[str, Any]], popular: dict[str, float]) -> str:
    """Markdown."""
    lines = [
        "| file | MB | trained users Recall/NDCG@20 | folded-in users Recall/NDCG@20 | load ms | query ms "
        "(numpy) | query ms (Node) | query ms (Chromium) | scoring MB (numpy) |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        both = [
            f"{row[f'{group} recall@20']:.4f}/{row[f'{group} ndcg@20']:.4f}"
            for group in ("trained", "folded")
        ]
        rest = [
            f"{row[key]:.1f}" if row.get(key) is not None else "-"
            for key in ("load_ms", "query_ms", "node_ms", "chromium_ms", "scratch_mb")
        ]
        size = f"{row['bytes'] / 1e6:.2f}" if "bytes" in row else "-"
        lines.append("| " + " | ".join([row["file"], size, *both, *rest]) + " |")
    lines.append(
        f"| popularity | - | {popular['recall@20']:.4f}/{popular['ndcg@20']:.4f} | - | - | - | - | - | - |"
    )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
