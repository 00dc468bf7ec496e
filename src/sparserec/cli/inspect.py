"""sparserec inspect: what is in a device file, and whether it answers its own golden queries."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sparserec.cli import answers
from sparserec.cli.answers import HELP
from sparserec.cli.options import AsJson


def inspect(
    file: Annotated[Path, typer.Argument(help=HELP["file"])],
    as_json: AsJson = False,
) -> None:
    """Print the card of a device file and run its self-test."""
    answers.inspect(file, as_json)
