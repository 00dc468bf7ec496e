"""sparserec similar: items that a model places near an item."""

from __future__ import annotations

from typing import Annotated

import typer

from sparserec.cli import answers
from sparserec.cli.answers import HELP
from sparserec.cli.options import AsJson, RunArgument


def similar(
    run: RunArgument,
    item: Annotated[str, typer.Option(metavar="ID", help=HELP["item"])],
    k: Annotated[int, typer.Option("--k", "-k", help=HELP["k"])] = 20,
    as_json: AsJson = False,
) -> None:
    """List the items whose vectors are nearest to that of an item."""
    answers.similar(run, item, k, as_json)
