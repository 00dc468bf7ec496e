"""The frontier: bytes of a file against NDCG@20 of users served from their train history, ours beside what else could
be shipped.

    python benchmarks/frontier.py RUN [RUN ...] [--classics FOLDER [FOLDER ...]] [--other .venv-bench/bin/python]

All runs must be of one split. What each gives follows from what it is: a sparse run its rows in few bits, with their
values learnt and not, a dense run plain, optimised and learnt product codes (and ONNX int8), XSimGCL its vectors cut to
rows, learnt and not, a folder that `sparserec classics` made for rp3beta plain neighbour lists, one for together
co-occurrence lists of pairs that three people have, allocated and learned. Sizes are whole files without ids, titles
and golden queries, fold-in weights counted, in MB of 10^6 bytes. `learnt lists`: of all pairs, format 1.1.

Which files of a curve are worth their bytes is decided on validation; the test set is opened for those alone, once: a
file that has a row already keeps it. At each of SIZES our file that is best on validation is compared with the best of
every other curve, user by user; rows hold no users, so these files are made and measured again, and must give the same
score. Rows of other data sets and of runs that are not given stay, and so do comparisons of the same two files.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
SCORE = "ndcg@20"
SIZES = (0.7e6, 1.0e6, 1.4e6, 2.6e6)
CODE_BYTES = (4, 8, 14, 16, 20, 30, 32, 60, 64)
"""Of an item; some divide the columns, which codes on plain columns need, some come near one of SIZES."""
LISTS = {"rp3beta": (4, 8, 12, 16, 24, 32, 50, 100, 200), "together": (3, 4, 5, 8, 10, 12, 16, 20, 24, 32)}
BITS = (2, 3, 4, 6)
LIST_BITS = (3, 4)
LIST_PEOPLE = 3
"""Who must have both items of an entry of a co-occurrence list, as in files."""
LIST_TRIED = {"gowalla": ((0.2, 0.25), 400), "yelp2018": ((0.35,), 1600)}
"""Exponents of popularity, and steps of learning, that validation likes for co-occurrence lists (docs/log.md)."""
CUTS = (8, 16, 24, 32, 64, 128)
LEARNT_ROWS = ((3, 12), (4, 12), (4, 16), (4, 20), (4, 32))
"""Bits and entries of rows whose values are learnt."""
CUT_ROWS = ((3, 12), (4, 12), (4, 16), (3, 24), (4, 20), (4, 24), (4, 32), (4, 48))
"""The same of rows of graph bases, plain and learnt."""
LEARNT_CODES = (14, 20, 30, 60)
USERS_TO_CHOOSE_BY = 5_000
ONNX_OVERHEAD = 291
"""Bytes of an ONNX graph of int8 vectors beside a byte for each number and a float scale for each item."""
READERS = (
    "what reads a file: ours 39 kB of JavaScript (15 kB compressed), 46 kB of C, or 48 kB of Python and numpy, "
    "ONNX Runtime 66 MB of native code"
)
OURS = (
    "learned co-occurrence lists",
    "learnt lists",
    "learnt rows",
    "learnt rows of xsimgcl",
    "learnt codes",
    "sparse rows, taper",
    "sparse rows, explored",
)
ROWS = {
    "sparserec": "sparse rows, explored",
    "static": "sparse rows, fixed",
    "magnitude": "sparse rows, pruned",
}
"""Curves of sparse tables on base history, by method."""
STYLES = {
    "learned co-occurrence lists": ("#b5532a", "o"), "learnt lists": ("#b5532a", "x"),
    "learnt rows": ("#e0457b", "o"), "learnt codes": ("#1f4e8c", "o"),
    "sparse rows, explored": ("#c2185b", "o"), "sparse rows, fixed": ("#c2185b", "x"),
    "sparse rows, pruned": ("#c2185b", "+"), "sparse rows, taper": ("#8e2ad1", "o"),
    "sparse LightGCN": ("#d9a441", "o"),
    "cut rows of xsimgcl": ("#e07b39", "x"), "learnt rows of xsimgcl": ("#e07b39", "o"),
    "neighbours (rp3beta)": ("#2c8a4b", "s"),
    "PQ of dense history": ("#2a6fb5", "^"), "OPQ of dense history": ("#2a6fb5", "v"),
    "PQ of dense lightgcn": ("#888888", "^"), "OPQ of dense lightgcn": ("#888888", "v"),
    "ONNX int8 of dense history": ("#7a4fa3", "D"), "ONNX int8 of dense lightgcn": ("#444444", "D"),
}  # fmt: skip
LABELS = {"learnt lists": "the same of all pairs, format 1.1"}
"""Of curves that say too little by their name."""
SAME = 1e-5
"""By how much the score of a file may differ when it is made again, elsewhere."""
Row = dict[str, Any]
Measure = Callable[[Any, bool], tuple[np.ndarray, np.ndarray]]
"""(held-out part, whether it is the test part) -> users and their NDCG@20."""


@dataclass(frozen=True, eq=False)
class File:
    """Something that could be shipped; made when it is looked at."""

    curve: str
    label: str
    split: Any
    make: Callable[[], tuple[int, Measure]]

    @cached_property
    def made(self) -> tuple[int, Measure]:
        return self.make()

    @property
    def bytes(self) -> int:
        return self.made[0]

    @property
    def name(self) -> tuple[str, str]:
        return self.curve, self.label

    def score(self, truth: Any) -> float:
        return float(self.made[1](truth, False)[1].mean())

    def test(self) -> np.ndarray:
        """NDCG@20 of every test user, by their ids."""
        users, found = self.made[1](self.split.test, True)
        return found[np.argsort(self.split.train.user_ids.external(users), kind="stable")]


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

    run = open_run(folder)
    vectors = run.recommender.vectors(run.graph, run.table)
    if run.config.method == "dense":
        yield from code_files(run, vectors)
        yield onnx_file(run, vectors, other)
    if run.config.method != "dense" or run.config.base not in ("history", "lightgcn"):
        yield from row_files(run, vectors, folder.name)


def row_files(run: Any, vectors: Any, name: str) -> Iterator[File]:
    """A sparse table: rows in few bits on base history, vectors cut as today on others."""
    from sparserec.encodings import Encoding, encode

    lesson = cache(partial(lesson_for, run, vectors))
    dim = vectors.items.shape[1]
    if run.config.base == "history":
        curve = ROWS.get(run.config.method, f"sparse rows, {run.config.method}")
        encodings = [Encoding(bits, dim, "shared", "gaps") for bits in BITS]
        if run.config.method == "taper":
            entries = int(np.count_nonzero(vectors.items, axis=1).max())
            for bits, keep in ((bits, keep) for bits, keep in LEARNT_ROWS if keep <= entries):
                rows = Encoding(bits, keep, "shared", "gaps", learnt=True)
                yield learnt_file(run, vectors, rows, lesson, name)
    elif run.config.base == "lightgcn":
        curve, encodings = "sparse LightGCN", [Encoding(4, keep, "shared") for keep in CUTS]
    else:
        curve = f"cut rows of {run.config.base}"
        encodings = [Encoding(bits, keep, "shared", "gaps") for bits, keep in CUT_ROWS]
        for encoding in encodings:
            yield learnt_file(run, vectors, replace(encoding, learnt=True), lesson, name)
    for encoding in encodings:
        make = partial(encode, vectors, encoding)
        yield vector_file(run, vectors, make, curve, f"{name}: {encoding.label}")


def code_files(run: Any, vectors: Any) -> Iterator[File]:
    """Product codes of a dense table: k-means in slices of the columns as they are, and on axes that suit
    the slices; on base history also learnt.
    """
    from sparserec.device import encode_codes
    from sparserec.encodings import EncodedVectors, Encoding
    from sparserec.encodings.codes import product_codes

    def make(size: int, axes: np.ndarray | None) -> EncodedVectors:
        codes = product_codes(vectors.items, size, axes=axes)
        return EncodedVectors(encode_codes(codes.code, codes.book), (), codes.axes)

    dim = vectors.items.shape[1]
    for size in CODE_BYTES:
        plain = np.eye(dim, dtype=np.float32) if dim % size == 0 else None
        for name, axes in (("PQ", plain), ("OPQ", None)):
            if name == "OPQ" or plain is not None:  # slices of plain columns must be equally wide
                curve = f"{name} of dense {run.config.base}"
                yield vector_file(run, vectors, partial(make, size, axes), curve, f"{size} bytes an item")
    if run.config.base == "history":
        lesson = cache(partial(lesson_for, run, vectors))
        for size in LEARNT_CODES:
            yield learnt_file(run, vectors, Encoding(8, size, "shared", "codes", learnt=True), lesson)


def learnt_file(
    run: Any, vectors: Any, encoding: Any, lesson: Callable[[], Any], name: str | None = None
) -> File:
    """Codes learnt with base history's loss, as `export --learn` does."""
    from sparserec.export.learn import learn_encoding

    def make() -> Any:
        learnt = learn_encoding(vectors, encoding, lesson(), quiet=False)
        return learnt(np.arange(run.split.n_items))

    curve = "learnt codes" if encoding.kind == "codes" else "learnt rows"
    if run.config.base != "history":
        curve += f" of {run.config.base}"
    label = encoding.label if name is None else f"{name}: {encoding.label}"
    return vector_file(run, vectors, make, curve, label)


def lesson_for(run: Any, vectors: Any) -> Any:
    """What codes of a run are learnt from; a graph base's temperature is chosen on validation, as `export` does."""
    from sparserec.export.choose import Measure
    from sparserec.export.learn import TRIAL, choose_lesson, lesson_of

    found = lesson_of(run.recommender, vectors, run.split.train)
    if run.config.base == "history":
        return found
    measure = Measure(vectors, run.split, 0)
    return choose_lesson(found, vectors, lambda made: measure.point(TRIAL, made).score)


def vector_file(run: Any, vectors: Any, encode: Callable[[], Any], curve: str, label: str) -> File:
    from sparserec.export.contents import item_parts
    from sparserec.recommenders import FoldIn

    def make() -> tuple[int, Measure]:
        made = encode()
        size = bare_bytes(item_parts(run, made, np.arange(run.split.n_items), None, {}))
        items, fold = made.read
        return size, by_vectors(run.split, FoldIn(fold, vectors.graph).users(), items)

    return File(curve, label, run.split, make)


def onnx_file(run: Any, vectors: Any, other: Path | None) -> File:
    """Integer vectors and scales in a graph for ONNX Runtime; the app adds up the rows of a history itself.

    Without an interpreter that can write one, its size is what such graphs were found to take.
    """
    from sparserec.device import fake_quantise
    from sparserec.recommenders import FoldIn

    def make() -> tuple[int, Measure]:
        items = fake_quantise(vectors.items, 8)
        size = items.size + 4 * len(items) + ONNX_OVERHEAD if other is None else written(vectors.items, other)
        return size, by_vectors(run.split, FoldIn((items,), vectors.graph).users(), items)

    columns = vectors.items.shape[1]
    return File(f"ONNX int8 of dense {run.config.base}", f"{columns} columns", run.split, make)


def written(items: np.ndarray, other: Path) -> int:
    """Bytes of an ONNX graph of int8 vectors."""
    with tempfile.TemporaryDirectory() as name:
        np.save(Path(name) / "items.npy", items)
        subprocess.run([other, __file__, "--onnx", name], check=True)
        return (Path(name) / "items.onnx").stat().st_size


def list_files(folder: Path) -> Iterator[File]:
    """Lists of items with the settings that validation chose, of several lengths and bits."""
    from sparserec.classics import CLASSICS, Cooccurrence, histories
    from sparserec.device import FoldInWeights, ModelParts, SparseRows, encode_rows
    from sparserec.encodings import EncodedLists
    from sparserec.runs.folder import load_split

    split = load_split(folder / "data.safetensors")
    record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    name, chosen = record["config"]["base"], record["base_settings"]
    together = name == "together"
    curve = "learned co-occurrence lists" if together else f"neighbours ({name})"
    history, everything = histories(split.train), np.arange(split.n_items)

    exponents, steps = (
        LIST_TRIED.get(record["config"]["data"], ((0.2, 0.4), 400)) if together else ((0.0,), 0)
    )

    def tried(exponent: float) -> dict[str, Any]:
        own = {"popularity_exponent": exponent, "least_users": LIST_PEOPLE, "steps": steps}
        return {**chosen, **own} if together else chosen

    @cache
    def lists_of(length: int, exponent: float) -> Any:
        settings = CLASSICS[name](**{**tried(exponent), "neighbours": length})
        if isinstance(settings, Cooccurrence):
            return settings.cut(whole(exponent), split.train).lists
        return settings.fit(split.train).lists

    @cache
    def whole(exponent: float) -> Any:
        return Cooccurrence(**tried(exponent)).whole(split.train)

    def make(length: int, bits: int, exponent: float) -> tuple[int, Measure]:
        lists = lists_of(length, exponent)
        made = EncodedLists(
            encode_rows(SparseRows(lists.data, lists.indices, lists.indptr, split.n_items), bits)
        )
        parts = ModelParts(
            mode="neighbours", base=name, weight=np.ones(1), lists=made.lists, users=split.n_users,
            degree=split.train.item_counts(), fold_in=FoldInWeights(exponent=0.0, size_power=0.0),
        )  # fmt: skip
        return bare_bytes(parts), by_lists(split, history, made.matrix(everything, split.n_items))

    for length in LISTS[name]:
        for bits in LIST_BITS:
            for exponent in exponents:
                more = f", {LIST_PEOPLE} people, popularity {exponent:g}" if together else ""
                label = f"{length} neighbours, {bits} bits{more}"
                yield File(curve, label, split, partial(make, length, bits, exponent))


def worth_their_bytes(rows: list[Row]) -> list[Row]:
    """The rows that no smaller file beats on validation, smallest first."""
    best, chosen = -1.0, []
    for row in sorted(rows, key=lambda row: (row["bytes"], -row["valid"])):
        if row["valid"] > best:
            best = row["valid"]
            chosen.append(row)
    return chosen


def frontier(
    files: list[File], data: str, rows: list[Row], save: Callable[[list[Row]], None] = lambda rows: None
) -> list[Row]:
    """The rows of a data set with those of new files added; files that validation chose of each curve have a
    test score, and rivals say how our best file compares. What was measured is saved before files are compared.
    """
    others = [row for row in rows if row["data"] != data]
    known = {(row["curve"], row["file"]): row for row in rows if row["data"] == data}
    for file in files:
        if file.name not in known:
            truth = some_users_of(file.split)
            known[file.name] = {"data": data, "split": file.split.hash, "curve": file.curve, "file": file.label,
                                "bytes": file.bytes, "valid": file.score(truth)}  # fmt: skip
            say(known[file.name])
    chosen = {
        (row["curve"], row["file"])
        for curve in dict.fromkeys(curve for curve, _ in known)
        for row in worth_their_bytes([row for row in known.values() if row["curve"] == curve])
    }
    opened: dict[tuple[str, str], np.ndarray] = {}

    def test(file: File) -> np.ndarray:
        row = known[file.name]
        if file.name not in opened:
            opened[file.name] = file.test()
            score = float(opened[file.name].mean())
            if abs(row.setdefault("test", score) - score) > SAME:
                raise SystemExit(f"{file.name}: {row['test']:.6f} before, {score:.6f} now: not the same file")
            say(row)
        return opened[file.name]

    for file in files:
        if file.name in chosen and "test" not in known[file.name]:
            test(file)
            save([*others, *known.values()])
    compare([file for file in files if file.name in chosen], known, test)
    return [*others, *known.values()]


def write_rows(path: Path, rows: list[Row]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def some_users_of(split: Any) -> Any:
    """Validation pairs of some users, drawn by their ids: runs number users differently."""
    users = np.unique(split.valid.users)
    by_id = users[np.argsort(split.train.user_ids.external(users), kind="stable")]
    count = min(USERS_TO_CHOOSE_BY, len(users))
    chosen = np.random.default_rng(0).choice(by_id, count, replace=False)
    return split.valid.select(np.isin(split.valid.users, chosen))


def say(row: Row) -> None:
    found = f", test {row['test']:.4f}" if "test" in row else ""
    text = f"{row['curve']}, {row['file']}: {row['bytes']:,} bytes, valid {row['valid']:.4f}{found}"
    print(text, file=sys.stderr, flush=True)


def compare(files: list[File], known: dict[tuple[str, str], Row], test: Callable[[File], np.ndarray]) -> None:
    """Our best file up to each size against the best of every other curve: a paired test, noted in the other's row.

    A note about the same two files stays; where one of two files is not given, so does that of an earlier file of ours.
    """
    from sparserec.evaluation import paired

    before = {
        (name, note["size"], note["ours"]): note
        for name, row in known.items()
        for note in row.pop("ours_against_it", ())
    }
    earlier = {(name, size): note for (name, size, _), note in before.items()}
    given = {file.name: file for file in files}
    for size in SIZES:
        best = best_up_to(size, list(known.values()))
        ours = max((best[curve] for curve in OURS if curve in best), key=_valid, default=None)
        for row in best.values():
            if ours is None or row is ours:
                continue
            (first, second), of_ours = (_name(ours), _name(row)), ", ".join(_name(ours))
            note = before.get((second, size, of_ours))
            if note is None and first in given and second in given:
                found = paired(test(given[first]), test(given[second]))
                note = {"size": size, "ours": of_ours, "difference": found.difference, "p": found.p}
            note = note or earlier.get((second, size))
            if note is not None:
                row.setdefault("ours_against_it", []).append(note)


def best_up_to(size: float, rows: list[Row]) -> dict[str, Row]:
    """Of each curve the row that is best on validation among those of at most so many bytes."""
    best: dict[str, Row] = {}
    for row in rows:
        if row["bytes"] <= size and (row["curve"] not in best or _valid(row) > _valid(best[row["curve"]])):
            best[row["curve"]] = row
    return best


def _valid(row: Row) -> float:
    return float(row["valid"])


def _name(row: Row) -> tuple[str, str]:
    return row["curve"], row["file"]


def draw(rows: list[Row], path: Path) -> None:
    """A panel per data set: bytes against test NDCG@20, a line per curve."""
    from matplotlib.figure import Figure

    sets = sorted({row["data"] for row in rows})
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
                    *zip(*points),
                    color=color,
                    marker=marker,
                    markersize=4.5,
                    linewidth=1.3,
                    label=LABELS.get(curve, curve),
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
    figure.supxlabel(READERS, fontsize=8, color="#555555")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=160)


def show(rows: list[Row]) -> None:
    """The file of each curve that validation chose up to each size, and how ours compares, as a Markdown table."""
    print("| data | up to | curve | file | MB | valid | test | our best file against it |")
    print("|---|---|---|---|---|---|---|---|")
    for data in sorted({row["data"] for row in rows}):
        for size in SIZES:
            best = best_up_to(size, [row for row in rows if row["data"] == data and "test" in row])
            for row in sorted(best.values(), key=lambda row: -row["valid"]):
                notes = [note for note in row.get("ours_against_it", ()) if note["size"] == size]
                against = "".join(
                    f"{note['difference']:+.4f}, p {note['p']:.1g} ({note['ours']})" for note in notes
                )
                figures = f"{row['bytes'] / 1e6:.2f} | {row['valid']:.4f} | {row['test']:.4f}"
                print(
                    f"| {data} | {size / 1e6:.1f} MB | {row['curve']} | {row['file']} | {figures} | {against} |"
                )


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
        save = partial(write_rows, options.out)
        rows = frontier(files, data, rows, save)
        save(rows)
    draw(rows, options.figure)
    show(rows)


if __name__ == "__main__":
    main()
