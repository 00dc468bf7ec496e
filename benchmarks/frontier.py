"""The frontier: bytes of a file against NDCG@20 of users served from their train history, ours beside what else could
be shipped.

    python benchmarks/frontier.py RUN [RUN ...] [--classics FOLDER [FOLDER ...]] [--other .venv-bench/bin/python]

All runs must be of one split. What each gives follows from what it is: a sparse run its rows in few bits, a dense run
plain and optimised product codes (and ONNX int8, where the other interpreter has `onnx`), a folder that `sparserec
classics` made for rp3beta plain neighbour lists, one for together lists that were dealt and learnt. Sizes are whole
files without ids, titles and golden queries, fold-in weights counted, in MB of 10^6 bytes. Which files of a curve are
worth their bytes is decided on validation; the test set is opened for those alone, and at each of SIZES our best file
is compared with the best of every other curve, user by user. Rows of other data sets stay.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
SCORE = "ndcg@20"
SIZES = (0.7e6, 1.0e6, 1.4e6, 2.6e6)
CODE_BYTES = (4, 8, 16, 32, 64)
LISTS = (4, 8, 12, 16, 24, 32, 50, 100, 200)
BITS = (2, 3, 4, 6)
LIST_BITS = (3, 4)
CUTS = (8, 16, 24, 32, 64, 128)
USERS_TO_CHOOSE_BY = 5_000
OURS = "learnt lists"
ROWS = {
    "sparserec": "sparse rows, explored",
    "static": "sparse rows, fixed",
    "magnitude": "sparse rows, pruned",
}
"""Curves of sparse tables on base history, by method."""
STYLES = {
    OURS: ("#b5532a", "o"), "sparse rows, explored": ("#c2185b", "o"), "sparse rows, fixed": ("#c2185b", "x"),
    "sparse rows, pruned": ("#c2185b", "+"), "sparse rows, taper": ("#8e2ad1", "o"),
    "sparse LightGCN": ("#d9a441", "o"),
    "neighbours (rp3beta)": ("#2c8a4b", "s"),
    "PQ of dense history": ("#2a6fb5", "^"), "OPQ of dense history": ("#2a6fb5", "v"),
    "PQ of dense lightgcn": ("#888888", "^"), "OPQ of dense lightgcn": ("#888888", "v"),
    "ONNX int8 of dense history": ("#7a4fa3", "D"), "ONNX int8 of dense lightgcn": ("#444444", "D"),
}  # fmt: skip
Row = dict[str, Any]
Measure = Callable[[Any, bool], tuple[np.ndarray, np.ndarray]]
"""(held-out part, whether it is the test part) -> users and their NDCG@20."""


@dataclass(frozen=True, eq=False)
class File:
    """Something that could be shipped."""

    curve: str
    label: str
    bytes: int
    measure: Measure
    split: Any

    def score(self, truth: Any) -> float:
        return float(self.measure(truth, False)[1].mean())


def by_vectors(split: Any, users: np.ndarray, items: np.ndarray) -> Measure:
    """Quality of ranking by the product of folded-in users and what a reader sees of the items."""
    import torch

    from sparserec.evaluation import evaluate

    rows, table = torch.from_numpy(users.astype(np.float32)), torch.from_numpy(items.astype(np.float32))

    def measure(truth: Any, at_test: bool) -> tuple[np.ndarray, np.ndarray]:
        known = split.known_at_test if at_test else ()
        found = evaluate(lambda ids: rows[torch.from_numpy(ids).long()], table, split.train, truth, known)
        return found.users, found.per_user[SCORE]

    return measure


def by_lists(split: Any, history: Any, lists: Any) -> Measure:
    """The same of sums of neighbour lists."""
    from sparserec.evaluation import evaluate_scorer

    def measure(truth: Any, at_test: bool) -> tuple[np.ndarray, np.ndarray]:
        known = split.known_at_test if at_test else ()
        found = evaluate_scorer(lambda ids: (history[ids] @ lists).toarray(), split.train, truth, known)
        return found.users, found.per_user[SCORE]

    return measure


def bare_bytes(parts: Any) -> int:
    """Size of a file that holds the model alone."""
    from sparserec.device import model_bytes

    return len(
        model_bytes(replace(parts, item_ids=None, titles=None, tags=None, card={}, golden_histories=()))
    )


def files_of_run(folder: Path, other: Path | None) -> Iterator[File]:
    """All files of one trained run."""
    from sparserec.runs.trained import open_run
    from sparserec.vectors import make_vectors

    run = open_run(folder)
    vectors = make_vectors(run.recommender, run.graph, run.table)
    if run.config.method == "dense":
        yield from code_files(run, vectors)
        if other is not None:
            yield onnx_file(run, vectors, other)
    else:
        yield from row_files(run, vectors, folder.name)


def row_files(run: Any, vectors: Any, name: str) -> Iterator[File]:
    """A sparse table: rows in few bits on base history, vectors cut as today on others."""
    from sparserec.vectors import Encoding, encode

    if run.config.base == "history":
        curve = ROWS.get(run.config.method, f"sparse rows, {run.config.method}")
        encodings = [Encoding(bits, vectors.items.shape[1], "shared", "gaps") for bits in BITS]
    else:
        curve, encodings = "sparse LightGCN", [Encoding(4, keep, "shared") for keep in CUTS]
    for encoding in encodings:
        yield vector_file(run, vectors, encode(vectors, encoding), curve, f"{name}: {encoding.label}")


def code_files(run: Any, vectors: Any) -> Iterator[File]:
    """Product codes of a dense table: k-means in slices of the columns as they are, and on axes that suit
    the slices.
    """
    from sparserec.device import encode_codes
    from sparserec.vectors.codebooks import product_codes
    from sparserec.vectors.encoding import EncodedVectors

    dim = vectors.items.shape[1]
    for size in (size for size in CODE_BYTES if dim % size == 0):
        for name, axes in (("PQ", np.eye(dim, dtype=np.float32)), ("OPQ", None)):
            codes = product_codes(vectors.items, size, axes=axes)
            made = EncodedVectors(encode_codes(codes.code, codes.book), (), codes.axes)
            yield vector_file(
                run, vectors, made, f"{name} of dense {run.config.base}", f"{size} bytes an item"
            )


def vector_file(run: Any, vectors: Any, made: Any, curve: str, label: str) -> File:
    from sparserec.export.contents import item_parts
    from sparserec.vectors import FoldIn

    size = bare_bytes(item_parts(run, made, np.arange(run.split.n_items), None, {}))
    items, fold = made.read
    return File(
        curve, label, size, by_vectors(run.split, FoldIn(fold, vectors.graph).users(), items), run.split
    )


def onnx_file(run: Any, vectors: Any, other: Path) -> File:
    """Integer vectors and scales in a graph for ONNX Runtime; the app adds up the rows of a history itself."""
    from sparserec.device import fake_quantise
    from sparserec.vectors import FoldIn

    with tempfile.TemporaryDirectory() as name:
        np.save(Path(name) / "items.npy", vectors.items)
        subprocess.run([other, __file__, "--onnx", name], check=True)
        size = (Path(name) / "items.onnx").stat().st_size
    items = fake_quantise(vectors.items, 8)
    curve = f"ONNX int8 of dense {run.config.base}"
    made = FoldIn((items,), vectors.graph).users()
    return File(curve, f"{items.shape[1]} columns", size, by_vectors(run.split, made, items), run.split)


def list_files(folder: Path) -> Iterator[File]:
    """Lists of items with the settings that validation chose, of several lengths and bits."""
    from sparserec.classics import CLASSICS, histories
    from sparserec.device import FoldInWeights, ModelParts, SparseRows, encode_rows
    from sparserec.runs.stored_split import load_split
    from sparserec.vectors import EncodedLists

    split = load_split(folder / "data.safetensors")
    record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    name, chosen = record["config"]["base"], record["base_settings"]
    curve = OURS if name == "together" else f"neighbours ({name})"
    history, everything = histories(split.train), np.arange(split.n_items)
    for length in LISTS:
        lists = CLASSICS[name](**{**chosen, "neighbours": length}).fit(split.train).lists
        for bits in LIST_BITS:
            made = EncodedLists(
                encode_rows(SparseRows(lists.data, lists.indices, lists.indptr, split.n_items), bits)
            )
            parts = ModelParts(
                mode="neighbours", base=name, weight=np.ones(1), lists=made.lists, users=split.n_users,
                degree=split.train.item_counts(), fold_in=FoldInWeights(exponent=0.0, size_power=0.0),
            )  # fmt: skip
            measure = by_lists(split, history, made.matrix(everything, split.n_items))
            yield File(curve, f"{length} neighbours, {bits} bits", bare_bytes(parts), measure, split)


def worth_their_bytes(files: list[File], scores: list[float]) -> list[int]:
    """Places of the files that no smaller file beats, smallest first."""
    best, chosen = -1.0, []
    for place in sorted(range(len(files)), key=lambda at: (files[at].bytes, -scores[at])):
        if scores[place] > best:
            best = scores[place]
            chosen.append(place)
    return chosen


def frontier(files: list[File], data: str) -> list[Row]:
    """A row per file; those that validation chose of each curve have a test score, and comparisons at SIZES."""
    from sparserec.vectors import some_users

    scores = []
    for file in files:
        scores.append(file.score(some_users(file.split.valid, USERS_TO_CHOOSE_BY)))
        print(
            f"{file.curve}, {file.label}: {file.bytes:,} bytes, valid {scores[-1]:.4f}",
            file=sys.stderr,
            flush=True,
        )
    rows: list[Row] = [
        {"data": data, "split": file.split.hash, "curve": file.curve, "file": file.label, "bytes": file.bytes,
         "valid": score} for file, score in zip(files, scores)
    ]  # fmt: skip
    opened: dict[int, np.ndarray] = {}
    for curve in dict.fromkeys(file.curve for file in files):
        own = [place for place, file in enumerate(files) if file.curve == curve]
        for at in worth_their_bytes([files[place] for place in own], [scores[place] for place in own]):
            file = files[own[at]]
            users, found = file.measure(file.split.test, True)
            names = file.split.train.user_ids.external(users)
            opened[own[at]] = found[np.argsort(names, kind="stable")]
            rows[own[at]]["test"] = float(found.mean())
            print(f"{file.curve}, {file.label}: test {found.mean():.4f}", file=sys.stderr, flush=True)
    compare(files, scores, rows, opened)
    return rows


def compare(files: list[File], scores: list[float], rows: list[Row], opened: dict[int, np.ndarray]) -> None:
    """Our best file up to each size against the best of every other curve: a paired test, noted in the other's row."""
    from sparserec.evaluation import paired

    for size in SIZES:
        best: dict[str, int] = {}
        for place in opened:
            held = best.get(files[place].curve)
            if files[place].bytes <= size and (held is None or scores[place] > scores[held]):
                best[files[place].curve] = place
        for curve, place in best.items():
            if OURS in best and curve != OURS:
                test = paired(opened[best[OURS]], opened[place])
                note = {
                    "size": size,
                    "ours": rows[best[OURS]]["file"],
                    "difference": test.difference,
                    "p": test.p,
                }
                rows[place].setdefault("ours_against_it", []).append(note)


def draw(rows: list[Row], path: Path) -> None:
    """A panel per data set: bytes against test NDCG@20, a line per curve."""
    from matplotlib.figure import Figure

    sets = list(dict.fromkeys(row["data"] for row in rows))
    figure = Figure(figsize=(4.8 * len(sets) + 1, 4.6), layout="constrained")
    for axes, data in zip(np.atleast_1d(figure.subplots(1, len(sets))), sets):
        for curve, (color, marker) in STYLES.items():
            points = sorted(
                (row["bytes"] / 1e6, row["test"])
                for row in rows
                if row["data"] == data and row["curve"] == curve and "test" in row
            )
            if points:
                axes.plot(
                    *zip(*points), color=color, marker=marker, markersize=4.5, linewidth=1.3, label=curve
                )
        ticks = (0.25, 0.5, 1, 2, 4, 8)
        axes.set(
            xscale="log",
            xlabel="size of the file (MB)",
            xticks=ticks,
            xticklabels=map(str, ticks),
            title=data,
        )
        axes.minorticks_off()
        axes.grid(alpha=0.2)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(fontsize=8, frameon=False)
    np.atleast_1d(figure.axes)[0].set_ylabel("NDCG@20 of users served from their history")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=160)


def show(rows: list[Row]) -> None:
    """The files that validation chose, as a Markdown table."""
    print("| data | curve | file | MB | valid | test |\n|---|---|---|---|---|---|")
    for row in sorted(
        (row for row in rows if "test" in row), key=lambda row: (row["data"], row["curve"], row["bytes"])
    ):
        cells = (row["data"], row["curve"], row["file"], f"{row['bytes'] / 1e6:.2f}", f"{row['valid']:.4f}")
        print("| " + " | ".join(cells) + f" | {row['test']:.4f} |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", type=Path, nargs="*", help="none: only draw the figure again")
    parser.add_argument(
        "--classics",
        type=Path,
        nargs="*",
        default=[],
        help="folders of `sparserec classics --only rp3beta,together`",
    )
    parser.add_argument("--other", type=Path, help="interpreter with onnx")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "frontier.jsonl")
    parser.add_argument("--figure", type=Path, default=ROOT / "docs" / "figures" / "frontier.png")
    parser.add_argument("--onnx", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.onnx is not None:
        from alternatives import onnx_graph

        (options.onnx / "items.onnx").write_bytes(onnx_graph(np.load(options.onnx / "items.npy"), 8))
        return
    rows = [json.loads(line) for line in options.out.read_text().splitlines()] if options.out.exists() else []
    files = [file for folder in options.runs for file in files_of_run(folder, options.other)]
    files += [file for folder in options.classics for file in list_files(folder)]
    if files:
        if len({file.split.hash for file in files}) > 1:
            raise SystemExit("these runs are of different splits: their files cannot be compared")
        data = json.loads(([*options.runs, *options.classics][0] / "config.json").read_text())["data"]
        rows = [row for row in rows if row["data"] != data] + frontier(files, data)
        options.out.write_text("".join(json.dumps(row) + "\n" for row in rows))
    draw(rows, options.figure)
    show(rows)


if __name__ == "__main__":
    main()
