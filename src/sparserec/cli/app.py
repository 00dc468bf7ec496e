"""Builds the command line from the command files. A new command is one file and one line here."""

from __future__ import annotations

from importlib import import_module

import typer

COMMANDS = (
    "demo",
    "data",
    "train",
    "recommend",
    "similar",
    "evaluate",
    "runs",
    "compare",
    "classics",
    "export",
    "inspect",
    "config",
    "estimate",
    "doctor",
    "methods",
    "bases",
    "sweep",
    "reproduce",
)


def build_app() -> typer.Typer:
    """Import the commands only when the command line runs."""
    app = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        help="Small graph recommenders, sparse from the first training step to the device.",
    )
    for name in COMMANDS:
        import_module(f"sparserec.cli.{name}").register(app)
    return app
