"""sparserec export: one small file for the device, and, with --page, a page that recommends offline."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from sparserec.cli import options

if TYPE_CHECKING:
    from sparserec.export import ExportReport


def export(
    run: options.RunFolder,
    out: Annotated[
        Optional[Path], typer.Option(help="File to write; default model.srec in the run folder.")
    ] = None,
    mode: Annotated[str, typer.Option(help="items, full or personal.")] = "items",
    budget: Annotated[
        Optional[str],
        typer.Option(help="Largest file, such as 1MB: the best that fits, if the chosen one does not."),
    ] = None,
    encoding: Annotated[
        Optional[str],
        typer.Option(
            help="int, gaps, prefix, codes, neighbours, co-occurrence, ease or package.module:Class; chosen where none "
            "of these four is given."
        ),
    ] = None,
    bits: Annotated[Optional[int], typer.Option(help="Of an entry, 1 to 8 (int: 4 or 8).")] = None,
    keep: Annotated[
        Optional[int], typer.Option(min=1, help="Entries, axes, bytes of codes or listed items of an item.")
    ] = None,
    fold: Annotated[Optional[str], typer.Option("--fold-in", help="own or shared fold-in table.")] = None,
    learn: Annotated[
        Optional[bool],
        typer.Option(
            "--learn/--no-learn",
            help="Learn the codes with base history's loss: gaps and codes; tried with --budget.",
        ),
    ] = None,
    min_users: Annotated[int, typer.Option(min=0, help="Leave out items that fewer users chose.")] = 3,
    list_users: Annotated[
        int, typer.Option(min=1, help="People who must have both items for one to stand in the other's list.")
    ] = 3,
    term: Annotated[
        bool, typer.Option("--term", help="Prefer popular items too, as much as does best on validation.")
    ] = False,
    titles: Annotated[
        bool, typer.Option("--titles/--no-titles", help="Whether titles and tags go into the file.")
    ] = True,
    user: Annotated[Optional[str], typer.Option(help="Whose vector a personal file holds.")] = None,
    metadata: options.Metadata = None,
    page: Annotated[Optional[Path], typer.Option(help="Also write a self-contained HTML page.")] = None,
    page_title: Annotated[Optional[str], typer.Option(help="What stands on top of the page.")] = None,
    page_color: Annotated[
        Optional[str], typer.Option(help="Colour of links and pressed buttons, as #rrggbb.")
    ] = None,
    include_everyones_history: Annotated[
        bool, typer.Option("--include-everyones-history", help="Needed for mode full.")
    ] = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Write a trained run as one small file and report its size and quality."""
    from sparserec.cli.options import check_choice
    from sparserec.data import read_item_info
    from sparserec.encodings import Encoding, find_encoding
    from sparserec.errors import SettingError
    from sparserec.export import ExportOptions, check_colour, export_run
    from sparserec.runs import open_final, open_run
    from sparserec.units import parse_size

    check_choice("mode", mode, ("items", "full", "personal"))
    check_choice("fold-in", fold, (None, "own", "shared"))
    usual = Encoding()
    find_encoding(encoding or usual.kind)
    check_choice("bits", bits, (None, *range(1, 9)))
    if page_color is not None:
        check_colour(page_color)
    trained, final = open_run(run), open_final(run)
    path = out or trained.folder.device_file
    named = any(one is not None for one in (encoding, bits, keep, fold))
    if learn and not named and not budget:
        raise SettingError(
            "--learn needs an --encoding to learn (gaps or codes), or a --budget to choose one for"
        )
    if learn and mode == "full":
        raise SettingError("--learn: mode full holds the table itself, of which nothing is learnt")
    if page is None and (page_title or page_color):
        raise SettingError("--page-title and --page-color are of a page: add --page PATH")
    if mode == "full" and bits is not None and encoding is keep is fold is None:
        named = False  # bits of the table
    kind, folding = encoding or usual.kind, fold or usual.fold
    exact = Encoding(bits or usual.bits, keep or usual.keep, folding, kind, learn or False)  # type: ignore[arg-type]
    wanted = ExportOptions(
        mode=mode,  # type: ignore[arg-type]
        budget=parse_size(budget) if budget else None,
        encoding=exact if named else None,
        bits=bits,
        learn=learn is not False,
        min_users=min_users,
        list_users=list_users,
        term=term,
        titles=titles,
        include_everyones_history=include_everyones_history,
        user=user,
    )
    info = read_item_info(metadata, (final or trained).split.train.item_ids) if metadata else None
    report = export_run(trained, path, wanted, info, quiet, final)
    figure = _draw_curve(report) if report.curve and report.quality else None
    if page:
        from sparserec.export import write_page

        write_page(page, path, page_title, page_color)
    if as_json:
        typer.echo(json.dumps({**asdict(report), "path": str(path)}))
        return
    _print(report, page, figure)
    if info is not None and info.note:
        typer.echo(info.note)


def _draw_curve(report: ExportReport) -> Path | None:
    """The figure beside the file; without matplotlib a word."""
    from sparserec.cli.printing import warn
    from sparserec.export import draw_curve
    from sparserec.plots import NoPlotsError

    path = report.path.with_suffix(".curve.png")
    try:
        draw_curve(report, path)
    except NoPlotsError as error:
        warn(str(error))
        return None
    return path


def _print(report: ExportReport, page: Path | None, figure: Path | None) -> None:
    from rich.console import Console
    from rich.table import Table

    from sparserec.encodings import Encoding
    from sparserec.units import show_bytes

    console = Console()
    label = f"int{report.encoding['bits']}" if report.mode == "full" else Encoding(**report.encoding).label
    console.print(f"{report.path}: mode {report.mode}, {show_bytes(report.bytes)}, {label}", highlight=False)
    if report.quality:
        table = Table(title="measured on the validation part", title_justify="left")
        for name in ("", "users", "Recall@20", "NDCG@20"):
            table.add_column(name, justify="right" if "@" in name else "left")
        for stage, groups in report.quality.items():
            for users, metrics in groups.items():
                table.add_row(stage, users, f"{metrics['recall@20']:.4f}", f"{metrics['ndcg@20']:.4f}")
        console.print(table)
    for line in _remarks(report):
        console.print(line, highlight=False)
    console.print(
        "bytes: " + ", ".join(f"{name} {show_bytes(size)}" for name, size in report.sections.items())
    )
    console.print(f"without ids, titles, tags and golden queries: {show_bytes(report.model_bytes)}")
    if report.curve:
        _print_curve(report, console)
    if figure:
        console.print(f"figure: {figure}")
    if page:
        console.print(f"page: {page}")


def _remarks(report: ExportReport) -> list[str]:
    """What the figures do not say by themselves."""
    from sparserec.export import NEW_USERS

    remarks = []
    if not report.quality:
        remarks.append("not measured: this run has no validation part, and its test part stays closed")
    if NEW_USERS in report.quality.get("file", {}):
        remarks.append(
            f"{NEW_USERS}: held out whole, folded in from four fifths of their history and measured on the test part, "
            "which the run's record counts as an opening. Compare each row with popularity for the same users"
        )
    remarks.append(
        "final: the file holds a model trained on all that is known; the figures are those of the one measured before"
        if report.final
        else "not final: the file holds a model trained on the train part only; train with --final to ship all"
    )
    if report.dropped_items:
        remarks.append(
            f"{report.dropped_items:,} items with too few users were left out, {report.items:,} kept"
        )
    return remarks


def _print_curve(report: ExportReport, console: object) -> None:
    from rich.table import Table

    from sparserec.encodings import SHOWN
    from sparserec.units import show_bytes

    table = Table(title="size and quality on the validation part, users folded in", title_justify="left")
    for name in ("size", "encoding", "bits", "kept", "fold-in", "NDCG@20", ""):
        table.add_column(name, justify="right")
    for row in sorted(report.curve, key=lambda row: row["bytes"]):
        chosen = all(row[name] == value for name, value in report.encoding.items())
        quality = f"{row['quality']['folded']['ndcg@20']:.4f}"
        kind = SHOWN.get(row["kind"], row["kind"]) + (", learnt" if row["learnt"] else "")
        settings = (kind, str(row["bits"]), str(row["keep"]), row["fold"])
        table.add_row(show_bytes(row["bytes"]), *settings, quality, "<- chosen" if chosen else "")
    console.print(table)  # type: ignore[attr-defined]
