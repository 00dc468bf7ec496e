"""`sparserec data`: named data sets, and what the readers make of a file."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from sparserec.cli import options


def register(app: typer.Typer) -> None:
    """Add the command group."""
    group = typer.Typer(no_args_is_help=True, help="List, fetch and describe data sets.")
    group.command("list")(list_sets)
    group.command("fetch")(fetch_set)
    group.command("describe")(describe)
    app.add_typer(group, name="data")


def list_sets(data_dir: options.DataDir = None, as_json: options.AsJson = False) -> None:
    """List the data sets that can be named instead of a file."""
    from sparserec.data import CATALOGUE, locate

    rows = []
    for entry in CATALOGUE.values():
        folder = locate(entry, data_dir)
        here = "built in" if entry.built_in else str(folder) if folder else "not fetched"
        rows.append({**asdict(entry), "here": here})
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    for row in rows:
        interactions = sum(row["parts"].values())
        typer.echo(
            f"{row['name']:22} {row['users']:>7,} users {row['items']:>7,} items {interactions:>10,} interactions"
        )
        typer.echo(f"{'':22} {row['title']}; {row['here']}")


def fetch_set(
    name: Annotated[str, typer.Argument(help="Name of a data set.")],
    data_dir: options.DataDir = None,
    as_json: options.AsJson = False,
) -> None:
    """Download a data set and check it; an interrupted download continues where it stopped."""
    from sparserec.data import fetch, get_named, load_entry, locate

    entry = get_named(name)
    if not as_json:
        typer.echo(f"{entry.name}: {entry.title}\nfrom    {entry.page}\nlicence {entry.licence}")
    hashes: dict[str, str] = {}
    folder = locate(entry, data_dir)
    if folder is None:
        folder, hashes = fetch(entry, data_dir, quiet=as_json)
    source = load_entry(entry, data_dir, download=False)
    files = [
        {"name": file.name, "sha256": hashes[file.name], "verified": file.sha256 is not None}
        for file in entry.files
        if file.name in hashes
    ]
    if as_json:
        typer.echo(
            json.dumps({"name": entry.name, "folder": str(folder), "files": files, **source.report.as_dict()})
        )
        return
    typer.echo(f"folder  {folder}")
    for file in files:
        typer.echo(
            f"sha256  {file['sha256']}  {file['name']}" + ("" if file["verified"] else "  (unverified)")
        )
    typer.echo("\n".join(source.report.lines()))


@options.with_reading
def describe(
    context: typer.Context,
    what: Annotated[str, typer.Argument(help="A file, a folder, or the name of a data set.")],
    data_dir: options.DataDir = None,
    as_json: options.AsJson = False,
) -> None:
    """Say what a file or data set is understood to be, without training anything."""
    from sparserec.cli.typed import as_typed
    from sparserec.data import find_named, resolve

    source = resolve(what, data_dir, **options.typed_reading(context))
    entry = None if Path(what).exists() else find_named(what)
    numbers = _statistics(source)
    if as_json:
        about = {} if entry is None else {"name": entry.name, "page": entry.page, "licence": entry.licence}
        typer.echo(json.dumps({**about, **source.report.as_dict(), **numbers}, indent=2))
        return
    if entry is not None:
        typer.echo(
            f"name          {entry.name}: {entry.title}\nsource        {entry.page}\nlicence       {entry.licence}"
        )
    typer.echo(as_typed("\n".join(source.report.lines())))
    for side in ("user", "item"):
        least, middle, most = numbers[f"per_{side}"]
        typer.echo(f"per {side}      {least:,} to {most:,} train interactions, median {middle:g}")
    typer.echo(f"hash          {numbers['pair_hash']}")


def _statistics(source: Any) -> dict[str, Any]:
    import numpy as np

    def spread(counts: Any) -> list[float]:
        return [int(counts.min()), float(np.median(counts)), int(counts.max())]

    return {
        "per_user": spread(source.train.user_counts()),
        "per_item": spread(source.train.item_counts()),
        "pair_hash": source.merged().pair_hash(),
    }
