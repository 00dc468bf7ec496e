"""sparserec inspect: what is in a device file, and whether it answers its own golden queries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from sparserec.cli.options import AsJson


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(inspect)


def inspect(
    file: Annotated[Path, typer.Argument(help="A .srec file.")],
    as_json: AsJson = False,
) -> None:
    """Print the card of a device file and run its self-test."""
    from sparserec.device import DeviceError, load
    from sparserec.errors import DataError

    try:
        model = load(file)
        queries = model.self_test()
    except OSError as error:
        raise DataError(f"{file}: cannot be read ({error.strerror})") from None
    except DeviceError as error:
        raise DataError(f"{file}: {type(error).__name__}: {error}") from None
    card = {**model.card(), "self_test": f"passed, {queries} queries" if queries is not None else "passed"}
    print(json.dumps(card, default=str)) if as_json else _print(card)


def _print(card: dict[str, object], indent: str = "") -> None:
    for name, value in card.items():
        if isinstance(value, dict):
            print(f"{indent}{name}:")
            _print(value, indent + "  ")
        else:
            print(f"{indent}{name}: {value}")
