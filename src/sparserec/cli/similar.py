"""sparserec similar: items that a model places near an item."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from sparserec.cli.options import AsJson, RunArgument
from sparserec.cli.recommend import item_rows


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(similar)


def similar(
    run: RunArgument,
    item: Annotated[str, typer.Option(metavar="ID", help="The item to compare with, by id or title.")],
    k: Annotated[int, typer.Option("--k", "-k", help="How many items.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List the items whose vectors are nearest to that of an item."""
    import sparserec
    from sparserec.cli.items import on_a_terminal, typed_item
    from sparserec.cli.printing import print_table

    model = sparserec.load(run)
    item = typed_item(model, item, on_a_terminal() and not as_json)
    found = model.similar(item, k)
    if as_json:
        typer.echo(json.dumps({"item": item, "items": found.as_dict()["items"]}))
        return
    print_table(item_rows(found, "cosine"), f"Nearest to {item}", left=("item", "title"))
