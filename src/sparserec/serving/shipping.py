"""From an open model to the file, and the page, that `sparserec export` writes."""

from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from sparserec.data import read_item_info
from sparserec.encodings import Encoding
from sparserec.errors import SettingError
from sparserec.export import ExportOptions, ExportReport, check_colour, export_run, write_page
from sparserec.runs import Trained
from sparserec.units import parse_size


def export_options(budget: str | int | None, options: dict[str, Any]) -> ExportOptions:
    """Options by the names that ExportOptions has, an encoding by its own: `encoding={"kind": "codes", "keep": 16}`."""
    known = {field.name for field in fields(ExportOptions)} - {"budget"}
    for name in options:
        if name not in known:
            raise SettingError(f"export: unknown option {name!r}; known: {', '.join(sorted(known))}")
    encoding = options.get("encoding")
    if isinstance(encoding, dict):
        wrong = encoding.keys() - asdict(Encoding()).keys()
        if wrong:
            raise SettingError(
                f"export: encoding has {', '.join(asdict(Encoding()))}, and no {wrong.pop()!r}"
            )
        options = {**options, "encoding": Encoding(**{**asdict(Encoding()), **encoding})}
    elif encoding is not None and not isinstance(encoding, Encoding):
        raise SettingError(f"export: encoding {encoding!r}; write it as {{'kind': 'codes', 'keep': 16}}")
    return ExportOptions(budget=None if budget is None else parse_size(str(budget)), **options)


def export_model(
    run: Trained,
    final: Trained | None,
    path: Path,
    options: ExportOptions,
    page: tuple[Path | str | bool | None, str | None, str | None] = (None, None, None),
    metadata: Any = None,
    quiet: bool = True,
) -> ExportReport:
    """Write the file and, where asked for, the page: its place (True: beside the file), title and colour."""
    place, title, colour = page
    if not place and (title or colour):
        raise SettingError("export: `page_title` and `page_color` are of a page; add page=True or its path")
    if colour is not None:
        check_colour(colour)
    ids = (final or run).split.train.item_ids
    info = None if metadata is None else read_item_info(metadata, ids)
    report = export_run(run, path, options, info, quiet, final)
    if place:
        write_page(path.with_suffix(".html") if place is True else Path(place), path, title, colour)
    return report
