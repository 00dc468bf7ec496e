"""The file that a training ends in: the best on validation for a size, out of all that could be shipped, and why.

Sparse rows and other encodings of the trained vectors, co-occurrence lists, and weights of EASE on small catalogues.
Trying takes at most about as long as the training did.
"""

from __future__ import annotations

from pathlib import Path

from sparserec.encodings import Encoding, find_encoding
from sparserec.export.choose import LIST_USERS, NothingFitsError
from sparserec.export.file import ExportReport, export_run
from sparserec.export.options import ExportOptions
from sparserec.runs import RunFolder, open_final, open_run
from sparserec.units import show_bytes

DEFAULT_SIZE = 1_000_000
"""Bytes of a file where nobody says how many."""


def ship_run(folder: Path, budget: int | None = None, quiet: bool = True) -> ExportReport | None:
    """Write the run's device file with the choice that `export --budget` makes; its record says which and why.

    Without a budget it is DEFAULT_SIZE, trying ends when it has taken as long as the training, and where nothing is so
    small it is the smallest good file. None, and no file, where there is no validation part to choose by or no item
    that enough people have, and where nobody gave a budget and measuring a file would open the test part (users held
    out whole).
    """
    run, final = open_run(folder), open_final(folder)
    all_rare = run.split.train.item_counts().max(initial=0) < LIST_USERS
    if len(run.split.valid) == 0 or all_rare or (budget is None and run.split.given is not None):
        return None
    seconds = run.record.seconds.total if budget is None else None
    options = ExportOptions(budget=budget or DEFAULT_SIZE, seconds=seconds)
    path = run.folder.device_file
    try:
        report = export_run(run, path, options, quiet=quiet, final=final)
        what = tried(report, budget or DEFAULT_SIZE)
        why = "the smallest of them whose validation NDCG@20 surely comes within 1 % of the best"
    except NothingFitsError as error:
        if budget is not None:
            raise
        report = export_run(run, path, ExportOptions(), quiet=quiet, final=final)
        what, why = str(error), "the smallest that surely loses at most 1 % of the float vectors"
    run.record.shipped = {
        "file": report.path.name,
        "budget": budget or DEFAULT_SIZE,
        "bytes": report.bytes,
        "encoding": report.encoding,
        "term": report.term,
        "valid": report.quality["file"]["folded"],
        "tried": report.curve,
        "left_out": report.left_out,
        "what": what,
        "why": f"{Encoding(**report.encoding).label}: {why}",
    }
    run.folder.write_record(run.record)
    return report


def tried(report: ExportReport, budget: int) -> str:
    """One line on what was tried: the best score of everything of a kind that fits."""
    best: dict[str, float] = {}
    for row in report.curve:
        if row["bytes"] <= budget:
            name = find_encoding(row["kind"]).title + (", learnt" if row["learnt"] else "")
            best[name] = max(best.get(name, 0.0), row["quality"]["folded"]["ndcg@20"])
    parts = [f"{name} {score:.4f}" for name, score in sorted(best.items(), key=lambda one: -one[1])]
    missing = f"; no time for {report.left_out} more" if report.left_out else ""
    return (
        f"tried {len(report.curve)} files up to {show_bytes(budget)}, validation NDCG@20: "
        f"{', '.join(parts)}{missing}"
    )


def shipped_text(folder: Path) -> str | None:
    """The two lines that a training ends with, from its record; None where no file was chosen."""
    run = RunFolder(folder)
    shipped = run.read_record().shipped
    if shipped is None:
        return None
    return f"{shipped['what']}\n{run.device_file}: {show_bytes(shipped['bytes'])}, {shipped['why']}"
