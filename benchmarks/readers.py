"""Milliseconds of processor time a question takes in the readers in C, JavaScript and Python, on the same files.

    python benchmarks/readers.py [FILE ..] [--rounds 30]

Without files, made-up models with as many items as Gowalla stand in: what a question costs depends on the shape of a
file, not on what it learnt. A question is a top 20 for a history of 30 items, each time another one.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sparserec.device import (
    FoldInWeights,
    ItemTerm,
    ModelParts,
    encode_codes,
    encode_rows,
    encode_table,
    load,
    model_bytes,
)
from sparserec.device.codecs import SparseRows

ROOT = Path(__file__).resolve().parents[1]
ITEMS, USERS, EDGES, DIM, HISTORY, TOP = 40_981, 29_858, 810_128, 128, 30, 20
HEAD = """\
| file | MB | C: kB beside it | C: ms to open | C: query ms | JavaScript (times C) | numpy (times C) |
|---|---|---|---|---|---|---|"""
NODE = """
  import { loadFile } from '%s'
  import { readFileSync } from 'node:fs'
  const { path, questions } = JSON.parse(readFileSync(0, 'utf8'))
  const model = await loadFile(path)
  const time = history => {
    const start = process.cpuUsage()
    model.recommend({ history, k: %d })
    const { user, system } = process.cpuUsage(start)
    return (user + system) / 1000
  }
  for (const history of questions) time(history)
  console.log(questions.map(time).sort((a, b) => a - b)[questions.length >> 1])
"""


def sparse(random: np.random.Generator, rows: int, dim: int, entries: int) -> SparseRows:
    """Rows with so many entries each, at random."""
    columns = np.sort(np.argsort(random.random((rows, 4 * entries)), axis=1)[:, :entries], axis=1)
    columns = columns * (dim // (4 * entries)) + random.integers(0, dim // (4 * entries), (rows, entries))
    values = random.normal(size=rows * entries).astype(np.float32)
    return SparseRows(values, columns.reshape(-1), np.arange(rows + 1) * entries, dim)


def models() -> Iterator[tuple[str, ModelParts]]:
    """One of each shape that is shipped."""
    random = np.random.default_rng(0)
    degree = random.integers(1, 300, ITEMS)
    common = {
        "base": "history",
        "weight": np.ones(1),
        "degree": degree,
        "fold_in": FoldInWeights(0.1),
        "users": USERS,
    }
    rows = sparse(random, ITEMS, DIM, 16)
    yield "16 of 128 entries, gaps, 4 bits", ModelParts("items", score=encode_rows(rows, 4), **common)
    wide = sparse(random, ITEMS, DIM, 32)
    for bits, encoding in ((8, "byte-index"), (4, "byte-index"), (8, "bitmask")):
        table = encode_table(wide, bits, encoding)
        yield f"32 of 128 entries, {encoding}, {bits} bits", ModelParts("items", score=table, **common)
    dense = random.normal(size=(ITEMS, DIM)).astype(np.float32)
    yield "dense, 8 bits", ModelParts("items", score=encode_table(dense, 8, "dense"), **common)
    yield "dense, 4 bits", ModelParts("items", score=encode_rows(dense, 4, "all"), **common)
    code, book = random.integers(0, 256, (ITEMS, 16)), random.normal(size=(16, 256, DIM // 16))
    yield "16 bytes of product codes", ModelParts("items", score=encode_codes(code, book), **common)
    near = sparse(random, ITEMS, ITEMS, 20)
    lists = encode_rows(near, 4)
    yield "lists of 20 neighbours, 4 bits", ModelParts("neighbours", lists=lists, **common)
    lists = encode_rows(near, 4, "gap classes")
    yield "the same, gaps in classes (1.2)", ModelParts("neighbours", lists=lists, **common)
    termed = encode_rows(rows, 4, "gap classes")
    yield (
        "16 of 128 entries, gaps in classes, 4 bits, terms (1.2)",
        ModelParts("items", score=termed, term=ItemTerm(0.3), **common),
    )
    pairs = np.unique(random.integers(0, USERS * ITEMS, EDGES))
    layer0 = encode_table(sparse(random, USERS + ITEMS, DIM, 16), 8, "byte-index")
    edges = (pairs // ITEMS, pairs % ITEMS)
    yield (
        "full, 16 of 128 entries, 8 bits",
        ModelParts("full", "lightgcn", np.full(4, 0.25), layer0=layer0, edges=edges, users=USERS),
    )


def reader_sizes(folder: Path) -> str:
    """How large each reader is: C as machine code and constants, the others as their sources, compressed."""
    code = folder / "srec.o"
    flags = ["-Os", "-std=c99", "-ffp-contract=off", "-fno-asynchronous-unwind-tables"]
    subprocess.run(["cc", *flags, "-c", ROOT / "c" / "srec.c", "-o", code], check=True)
    lines = subprocess.run(["size", code], capture_output=True, text=True, check=True).stdout.splitlines()
    sources = {
        "JavaScript": sorted((ROOT / "js" / "src").glob("*.js")),
        "Python": sorted((ROOT / "src" / "sparserec" / "device").glob("*.py")),
    }
    parts = [f"C {int(lines[1].split()[0]):,} bytes of machine code and constants (-Os)"]
    for name, files in sources.items():
        packed = gzip.compress(b"".join(path.read_bytes() for path in files), 9)
        parts.append(f"{name} {len(packed):,} bytes of sources with comments, compressed")
    return "Readers: " + "; ".join(parts) + "."


def c_times(program: Path, path: Path) -> dict[str, float]:
    lines = subprocess.run(
        [program, "bench", path], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return {name: float(value) for name, value in (line.split("\t") for line in lines)}


def node_time(path: Path, questions: list[list[int]]) -> float | None:
    node = shutil.which("node")
    if node is None:
        return None
    script = NODE % ((ROOT / "js" / "node.js").as_uri(), TOP)
    question = json.dumps({"path": str(path), "questions": questions})
    command = [node, "--input-type=module", "-e", script]
    return float(subprocess.run(command, input=question, capture_output=True, text=True, check=True).stdout)


def numpy_time(path: Path, questions: list[list[int]]) -> float:
    model = load(path)
    times = []
    for history in [*questions[:3], *questions]:
        start = time.process_time()
        model.recommend(history=history, k=TOP)
        times.append(1e3 * (time.process_time() - start))
    return statistics.median(times[3:])


def measure(name: str, path: Path, program: Path, rounds: int) -> str:
    """One line of the table."""
    model = load(path)
    random = np.random.default_rng(7)
    chosen = [random.choice(model.profile.items, HISTORY, replace=False).tolist() for _ in range(rounds)]
    questions = [[model.ids[index] for index in history] for history in chosen]
    c, javascript, python = c_times(program, path), node_time(path, questions), numpy_time(path, questions)
    own = c["query_ms"]
    other = "-" if javascript is None else f"{javascript:.2f} ({javascript / own:.1f})"
    return (
        f"| {name} | {c['bytes'] / 1e6:.2f} | {c['arena_bytes'] / 1e3:,.0f} | {c['open_ms']:.1f} | {own:.2f} | {other} "
        f"| {python:.2f} ({python / own:.1f}) |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "srec"
        flags = ["-O2", "-std=c99", "-ffp-contract=off"]
        subprocess.run(
            ["cc", *flags, ROOT / "c" / "main.c", ROOT / "c" / "srec.c", "-lm", "-o", program], check=True
        )
        print(reader_sizes(Path(folder)), end="\n\n")
        print(HEAD, flush=True)
        for path in options.files:
            print(measure(path.name, path, program, options.rounds), flush=True)
        for name, parts in () if options.files else models():
            path = Path(folder) / "model.srec"
            path.write_bytes(model_bytes(parts))
            print(measure(name, path, program, options.rounds), flush=True)


if __name__ == "__main__":
    main()
