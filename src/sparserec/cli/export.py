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


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(export)


def export(
    run: options.RunFolder,
    out: Annotated[
        Optional[Path], typer.Option(help="File to write; default model.srec in the run folder.")
    ] = None,
    mode: Annotated[str, typer.Option(help="items, full or personal.")] = "items",
    budget: Annotated[
        Optional[str], typer.Option(help="Largest file, such as 1MB: the best encoding that fits is chosen.")
    ] = None,
    encoding: Annotated[
        str, typer.Option(help="int, gaps, prefix, codes or neighbours, when no budget chooses.")
    ] = "int",
    bits: Annotated[
        Optional[int], typer.Option(help="Of an entry, 1 to 8 (int: 4 or 8), when no budget chooses.")
    ] = None,
    keep: Annotated[
        Optional[int],
        typer.Option(help="Entries, axes, bytes of codes or neighbours of an item, when no budget chooses."),
    ] = None,
    fold: Annotated[
        str, typer.Option("--fold-in", help="own or shared fold-in table, when no budget chooses.")
    ] = "shared",
    min_users: Annotated[int, typer.Option(help="Leave out items that fewer users chose.")] = 1,
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
    from sparserec.export import ExportOptions, check_colour, export_run
    from sparserec.runs import open_run
    from sparserec.units import parse_size
    from sparserec.vectors import DEFAULT, KINDS, Encoding

    check_choice("mode", mode, ("items", "full", "personal"))
    check_choice("fold-in", fold, ("own", "shared"))
    check_choice("encoding", encoding, KINDS)
    check_choice("bits", bits, (None, *range(1, 9)))
    if page_color is not None:
        check_colour(page_color)
    trained = open_run(run)
    path = out or trained.folder.device_file
    wanted = ExportOptions(
        mode=mode, budget=parse_size(budget) if budget else None,  # type: ignore[arg-type]
        encoding=Encoding(bits or DEFAULT.bits, keep or DEFAULT.keep, fold, encoding), bits=bits or 8,  # type: ignore[arg-type]
        min_users=min_users, include_everyones_history=include_everyones_history, user=user,
    )  # fmt: skip
    info = read_item_info(metadata, trained.split.train.item_ids) if metadata else None
    report = export_run(trained, path, wanted, info, quiet)
    if report.curve:
        from sparserec.cli.printing import warn
        from sparserec.export import draw_curve
        from sparserec.plots import NoPlotsError

        try:
            draw_curve(report, path.with_suffix(".curve.png"))
        except NoPlotsError as error:
            warn(str(error))
    if page:
        from sparserec.export import write_page

        write_page(page, path, page_title, page_color)
    print(json.dumps({**asdict(report), "path": str(path)})) if as_json else _print(report, page)


def _print(report: ExportReport, page: Path | None) -> None:
    from rich.console import Console
    from rich.table import Table

    from sparserec.export import NEW_USERS
    from sparserec.units import show_bytes

    console = Console()
    table = Table(
        title=f"{report.path}: mode {report.mode}, {show_bytes(report.bytes)}", title_justify="left"
    )
    for name in ("", "users", "Recall@20", "NDCG@20"):
        table.add_column(name, justify="right" if "@" in name else "left")
    for stage, groups in report.quality.items():
        for users, metrics in groups.items():
            table.add_row(stage, users, f"{metrics['recall@20']:.4f}", f"{metrics['ndcg@20']:.4f}")
    console.print(table)
    if NEW_USERS in report.quality["file"]:
        console.print(
            f"{NEW_USERS}: held out whole, folded in from four fifths of their history and tested on the rest; "
            "the other "
            "rows are users of the training, on their validation part. Compare each with popularity for the same users"
        )
    console.print(
        "bytes: " + ", ".join(f"{name} {show_bytes(size)}" for name, size in report.sections.items())
    )
    console.print(f"without ids, titles, tags and golden queries: {show_bytes(report.model_bytes)}")
    if report.dropped_items:
        console.print(
            f"{report.dropped_items:,} items with too few users were left out, {report.items:,} kept"
        )
    if report.curve:
        _print_curve(report, console)
    if page:
        console.print(f"page: {page}")


def _print_curve(report: ExportReport, console: object) -> None:
    from rich.table import Table

    from sparserec.units import show_bytes

    table = Table(title="size and quality on validation users (NDCG@20)", title_justify="left")
    for name in ("size", "encoding", "bits", "kept", "fold-in", "trained users", "folded-in users", ""):
        table.add_column(name, justify="right")
    for row in sorted(report.curve, key=lambda row: row["bytes"]):
        chosen = all(row[name] == value for name, value in report.encoding.items())
        groups = (row["quality"].get(group) for group in ("trained", "folded"))
        quality = [f"{group['ndcg@20']:.4f}" if group else "" for group in groups]
        settings = (row["kind"], str(row["bits"]), str(row["keep"]), row["fold"])
        table.add_row(show_bytes(row["bytes"]), *settings, *quality, "<- chosen" if chosen else "")
    console.print(table)  # type: ignore[attr-defined]
    console.print(f"figure: {report.path.with_suffix('.curve.png')}")  # type: ignore[attr-defined]
