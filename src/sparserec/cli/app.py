"""Builds the command line from the command files. A new command is one file and one line in commands.py."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated

import typer

from sparserec import SENTENCE
from sparserec.cli.commands import COMMANDS


def _say_version(wanted: bool) -> None:
    if wanted:
        from sparserec import __version__

        typer.echo(f"sparserec {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_say_version, is_eager=True, help="Say which version this is."),
    ] = False,
) -> None:
    """Options of the command as a whole."""


def build_app(only: str | None = None) -> typer.Typer:
    """The command line; a word that names a command brings the file of that one alone."""
    app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
    app.callback(help=SENTENCE)(_options)
    for name in [only] if only in COMMANDS else COMMANDS:
        module = import_module(f"sparserec.cli.{name}")
        register = getattr(module, "register", None)  # of files with several commands
        register(app) if register else app.command()(getattr(module, name))
    return app
