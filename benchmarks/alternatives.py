"""Files a user could ship for the item side of finished runs, at equal bytes: ours, ONNX Runtime, faiss.

    OMP_NUM_THREADS=1 python benchmarks/alternatives.py RUN [RUN ...] --other .venv-bench/bin/python [--users 5000]

Rows of other runs already in the results stay, so runs can be added one at a time. The rivals live in another
environment without our package: the script calls itself with that interpreter and exchanges arrays in a folder.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
K = 20
TIMED = 50  # queries
KEEPS = {4: (8, 12, 16, 24, 32, 64, 256), 8: (32, 256)}  # by bits; no more than there are
CODE_BYTES = (8, 16, 32)
RUNTIMES = {"onnx": ("onnxruntime", "flatbuffers", "protobuf"), "faiss": ("faiss-cpu",)}  # numpy: all need it
NAMES = {"sparserec": "SparseRec", "small_dense": "small dense"}
COLORS = ("#b5532a", "#222222", "#2a6fb5", "#2c8a4b", "#7a4fa3")
TICKS = (0.25, 0.5, 1, 2, 4, 8)  # MB
STYLES: dict[str, tuple[dict[str, Any], str]] = {
    "int4 shared": (
        {"marker": "o", "markersize": 4.5, "linewidth": 1.5},
        "ours, int4, cut to 8 .. all entries",
    ),
    "int4 own": (
        {"marker": "o", "markersize": 4.5, "linewidth": 1.2, "linestyle": "--", "markerfacecolor": "white"},
        "the same with fold-in tables of its own",
    ),
    "onnx": ({"marker": "s", "markersize": 6, "linestyle": ""}, "ONNX Runtime, int4 and int8"),
    "faiss": (
        {"marker": "^", "markersize": 6, "linestyle": ":", "linewidth": 1},
        "faiss product quantisation",
    ),
    "float": ({"linewidth": 0.8, "linestyle": (0, (1, 3))}, "float vectors"),
}
CURVES = {
    "trained": ("users the model was trained with", ("int4 shared", "onnx", "faiss", "float")),
    "folded": ("users folded in from their history on the device", ("int4 shared", "int4 own", "float")),
}
Row = dict[str, Any]
Search = Callable[[np.ndarray, int], np.ndarray]
"""(query vectors, length) -> item numbers, best first."""


def rivals(folder: Path) -> None:
    """What the other interpreter does: read vectors.npz, write a row and top-20 lists per rival."""
    given = np.load(folder / "vectors.npz")
    users, seen = given["users"], np.split(given["seen"], given["offsets"][1:-1])
    rows, lists = [], dict[str, Any]()
    files = chain.from_iterable(make(given["items"], folder) for make in (onnx_files, faiss_files))
    for name, kind, size, search in files:
        row = {"file": name, "kind": kind, "bytes": size, "query_ms": query_ms(search, users, seen)}
        rows.append({**row, "runtime_bytes": installed_bytes(RUNTIMES[kind])})
        lists[name] = answer(search, users, seen)
        print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    np.savez(folder / "lists.npz", **lists)
    (folder / "rows.json").write_text(json.dumps(rows))


def onnx_files(items: np.ndarray, folder: Path) -> Iterator[tuple[str, str, int, Search]]:
    """A graph that holds integer vectors and a scale per item: DequantizeLinear, MatMul, TopK."""
    import onnxruntime

    for bits in (8, 4):
        path = folder / f"int{bits}.onnx"
        path.write_bytes(onnx_graph(items, bits))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

        def search(queries: np.ndarray, length: int, session: Any = session) -> np.ndarray:
            return session.run(["found"], {"users": queries, "length": np.array([length])})[0]

        yield f"ONNX Runtime, int{bits}", "onnx", path.stat().st_size, search


def onnx_graph(items: np.ndarray, bits: int) -> bytes:
    """The vectors stand transposed, so that the scores are one plain product."""
    from onnx import TensorProto, helper, parser

    scale = (np.maximum(np.abs(items).max(axis=1), 1e-12) / (2 ** (bits - 1) - 1)).astype(np.float32)
    values = np.rint(items / scale[:, None]).astype(np.int8).T.ravel()
    if bits == 4:  # two to a byte, the first in the low half
        values = np.append(values, np.zeros(len(values) % 2, np.int8)).view(np.uint8)
        values = (values[0::2] & 15) | (values[1::2] << 4)
    model = parser.parse_model(f"""<ir_version: 10, opset_import: ["": 21]>
        items (float[queries, {items.shape[1]}] users, int64[1] length) => (int64[queries, places] found) {{
            items = DequantizeLinear <axis = 1> (values, scale)
            scores = MatMul(users, items)
            best, found = TopK(scores, length)
        }}""")
    stored = TensorProto.INT8 if bits == 8 else TensorProto.INT4
    model.graph.initializer.extend([
        helper.make_tensor("values", stored, items.shape[::-1], values.tobytes(), raw=True),
        helper.make_tensor("scale", TensorProto.FLOAT, scale.shape, scale.tobytes(), raw=True),
    ])  # fmt: skip
    return model.SerializeToString()


def faiss_files(items: np.ndarray, folder: Path) -> Iterator[tuple[str, str, int, Search]]:
    """Product quantisation of several bytes an item."""
    import faiss

    faiss.omp_set_num_threads(1)
    dim = items.shape[1]
    for code in (code for code in CODE_BYTES if dim % code == 0):
        index = faiss.IndexPQ(dim, code, 8, faiss.METRIC_INNER_PRODUCT)
        index.train(items)
        index.add(items)
        path = folder / f"{code}.faiss"
        faiss.write_index(index, str(path))
        read = faiss.read_index(str(path))

        def search(queries: np.ndarray, length: int, read: Any = read) -> np.ndarray:
            return read.search(queries, length)[1]

        yield f"faiss, PQ{code}", "faiss", path.stat().st_size, search


def answer(search: Search, users: np.ndarray, seen: list[np.ndarray], chunk: int = 64) -> np.ndarray:
    """Top-20 lists without what the user has seen: enough is asked for that 20 are left."""
    found = []
    for start in range(0, len(users), chunk):
        known = seen[start : start + chunk]
        longest = max(len(one) for one in known)
        top = search(users[start : start + chunk], K + longest)
        found += [row[~np.isin(row, one)][:K] for row, one in zip(top, known, strict=True)]
    return np.stack(found).astype(np.int32)


def query_ms(search: Search, users: np.ndarray, seen: list[np.ndarray]) -> float:
    """Milliseconds of one user's top 20."""
    pairs = [(users[at : at + 1], seen[at : at + 1]) for at in range(min(TIMED, len(users)))]
    return median_ms([partial(answer, search, *pair) for pair in pairs])


def median_ms(questions: Sequence[Callable[[], Any]]) -> float:
    """Median processor time: all run on one thread, and other work on the machine does not count."""
    questions[0]()
    times = []
    for question in questions:
        start = time.process_time()
        question()
        times.append(time.process_time() - start)
    return 1e3 * statistics.median(times)


def installed_bytes(packages: tuple[str, ...]) -> int:
    """What the packages take on disk, without compiled Python, which is made later."""
    files = [file for name in packages for file in importlib.metadata.distribution(name).files or ()]
    found = [Path(str(file.locate())) for file in files if file.suffix != ".pyc"]
    return sum(file.stat().st_size for file in found if file.is_file())


def run_rows(folder: Path, count: int, other: Path | None) -> Iterator[Row]:
    """All files of one run, each with bytes and test quality on the same users."""
    from sparserec.encodings import FileQuality, popularity_quality
    from sparserec.runs.trained import open_run

    run = open_run(folder)
    vectors, truth = run.recommender.vectors(run.graph, run.table), some_users(run.split.test, count)
    dim = vectors.items.shape[1]
    same = {"run": folder.name, "model": model_name(run.config.method, dim, run.config.density), "dim": dim}
    same["users"] = len(np.unique(truth.users))
    yield {**same, "file": "float", "kind": "level", **FileQuality(vectors, run.split).metrics(truth, True)}
    popular = popularity_quality(run.split, truth, True)
    yield {**same, "file": "popularity", "kind": "level", "trained": popular}
    theirs = rival_files(run.split, vectors, truth, other) if other else ()
    yield from ({**same, **row} for row in chain(our_files(run, vectors, truth), theirs))


def some_users(test: Any, count: int) -> Any:
    """Test interactions of users drawn by their names, because runs number the same users differently."""
    users = np.unique(test.users)
    users = users[np.argsort(test.user_ids.external(users))]
    if len(users) > count:
        users = np.random.default_rng(0).choice(users, count, replace=False)
    return test.select(np.isin(test.users, users))


def model_name(method: str, dim: int, density: float) -> str:
    """What the figure calls a run."""
    sparse = "" if method in ("dense", "small_dense") else f", d = {density:g}"
    return f"{NAMES.get(method, method)}, {dim} columns{sparse}"


def our_files(run: Any, vectors: Any, truth: Any) -> Iterator[Row]:
    """`items` files of several cuts, int4 and int8, folding in with the scoring table or tables of their own."""
    from device import histories
    from sparserec import device
    from sparserec.encodings import Encoding
    from sparserec.export.contents import item_parts, kept_items
    from sparserec.export.file import BYTES_FOR_METRICS

    card, kept, chosen = {"metrics": " " * BYTES_FOR_METRICS}, kept_items(run, 1), histories(run, TIMED)
    reader = sum(file.stat().st_size for file in (ROOT / "src" / "sparserec" / "device").glob("*.py"))
    dim = vectors.items.shape[1]
    cuts = [(bits, keep) for bits in KEEPS for keep in sorted({min(keep, dim) for keep in KEEPS[bits]})]
    for bits, keep in cuts:
        encodings = (Encoding(bits, keep, "shared"), Encoding(bits, keep, "own"))
        for encoding, quality in zip(encodings, qualities(run, vectors, truth, encodings)):
            data = device.model_bytes(item_parts(run, vectors, encoding, kept, None, card))
            model = device.loads(data)
            asking = [partial(model.recommend, history=one, k=K) for one in chosen]
            row = {
                "file": f"items, {encoding.label}",
                "kind": "ours",
                "bits": bits,
                "keep": keep,
                "fold": encoding.fold,
            }
            row |= {"bytes": len(data), "query_ms": median_ms(asking), "runtime_bytes": reader, **quality}
            print(json.dumps(row), file=sys.stderr, flush=True)
            yield row


def qualities(run: Any, vectors: Any, truth: Any, encodings: tuple[Any, ...]) -> Iterator[Row]:
    """Trained users, the same for all ways to fold in, and the asked users folded in."""
    from sparserec.encodings import encode, rank_quality
    from sparserec.recommenders import FoldIn

    train, trained = run.split.train, None
    given = train.select(np.isin(train.users, truth.users))
    for encoding in encodings:
        items, fold = encode(vectors, encoding).read
        trained = trained or rank_quality(vectors.users, items, run.split, truth, True)
        made = FoldIn(fold, vectors.graph).users(given)
        yield {"trained": trained, "folded": rank_quality(made, items, run.split, truth, True)}


def rival_files(split: Any, vectors: Any, truth: Any, other: Path) -> Iterator[Row]:
    """Have the other interpreter build and ask the rivals' files; measure their lists with our metrics."""
    from sparserec.evaluation import per_user

    users = np.unique(truth.users).astype(np.int32)
    parts = [(part.offsets(), part.items) for part in (split.train, split.valid)]
    seen = [np.concatenate([items[ends[u] : ends[u + 1]] for ends, items in parts]) for u in users]
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in seen])])
    chosen = {"users": vectors.users[users], "seen": np.concatenate(seen), "offsets": offsets}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.savez(folder / "vectors.npz", items=np.ascontiguousarray(vectors.items), **chosen)
        subprocess.run([other, __file__, "--rivals", folder], check=True)
        lists = np.load(folder / "lists.npz")
        for row in json.loads((folder / "rows.json").read_text()):
            found = per_user(lists[row["file"]], truth.offsets(), truth.items, users, K)
            yield {**row, "trained": {f"{one}@{K}": float(found[one].mean()) for one in ("recall", "ndcg")}}


def draw(rows: list[Row], path: Path) -> None:
    """Bytes against NDCG@20 of trained users, with the rivals, and of folded-in users: colour is the model, marker the
    file.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.2, 4.9), layout="constrained")
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    colors = dict(zip(dict.fromkeys(row["model"] for row in rows), COLORS))
    for axes, (group, (title, curves)) in zip(panels, CURVES.items()):
        for model, color in colors.items():
            draw_model(axes, [row for row in rows if row["model"] == model and group in row], group, color)
        axes.set(xscale="log", xlabel="size of the file (MB)", xticks=TICKS, xticklabels=map(str, TICKS))
        axes.set_title(title, fontsize=10)
        axes.minorticks_off()
        axes.grid(alpha=0.2)
        axes.spines[["top", "right"]].set_visible(False)
        marks = [axes.plot([], [], color="#666666", **STYLES[curve][0])[0] for curve in curves]
        axes.legend(
            marks, [STYLES[curve][1] for curve in curves], fontsize=8, frameon=False, loc="lower right"
        )
    panels[0].set_ylabel("NDCG@20")
    lines = [panels[0].plot([], [], color=color, linewidth=3)[0] for color in colors.values()]
    figure.legend(lines, list(colors), loc="outside upper center", ncols=2, fontsize=9, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=160)


def draw_model(axes: Any, rows: list[Row], group: str, color: str) -> None:
    """One line or set of points per kind of file; dots are the level of the float vectors."""
    for curve in CURVES[group][1]:
        if curve == "float":
            level = next(row[group]["ndcg@20"] for row in rows if row["file"] == "float")
            axes.axhline(level, color=color, **STYLES[curve][0])
            continue
        chosen = [row for row in rows if curve in (row["kind"], f"int{row.get('bits')} {row.get('fold')}")]
        points = sorted((row["bytes"] / 1e6, row[group]["ndcg@20"]) for row in chosen)
        if points:
            axes.plot(*zip(*points), color=color, **STYLES[curve][0])


def show(rows: list[Row]) -> None:
    """The rows as a Markdown table."""
    print(
        "| model | file | MB | NDCG@20 trained | folded in | query ms | runtime MB |\n|---|---|---|---|---|---|---|"
    )
    for row in rows:
        quality = [f"{row[group]['ndcg@20']:.4f}" if group in row else "-" for group in CURVES]
        sizes = [f"{row[key] / 1e6:.2f}" if key in row else "-" for key in ("bytes", "runtime_bytes")]
        took = f"{row['query_ms']:.2f}" if "query_ms" in row else "-"
        print("| " + " | ".join([row["model"], row["file"], sizes[0], *quality, took, sizes[1]]) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path, nargs="*", help="none: only draw the figure again")
    parser.add_argument("--other", type=Path, help="interpreter with onnxruntime, onnx and faiss")
    parser.add_argument("--users", type=int, default=10**9, help="random test users to measure quality on")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "device_curve.jsonl")
    parser.add_argument("--figure", type=Path, default=ROOT / "docs" / "figures" / "device_curve.png")
    parser.add_argument("--rivals", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rivals is not None:
        return rivals(options.rivals)
    text = options.out.read_text() if options.out.exists() else ""
    rows = [json.loads(line) for line in text.splitlines()]
    for folder in options.runs:
        found = list(run_rows(folder, options.users, options.other))
        rows = [row for row in rows if row["run"] != folder.name] + found
        options.out.write_text("".join(json.dumps(row) + "\n" for row in rows))
    draw(rows, options.figure)
    show(rows)


if __name__ == "__main__":
    main()
