"""Builds the site into a folder: `python docs/build.py site`.

Three of its parts are made here: the page of a trained model, which runs on the front, and the references of all
commands and of all settings.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from typer.main import get_command

from sparserec.cli.app import build_app
from sparserec.data.reading import ReadOptions
from sparserec.data.splits import PROTOCOLS
from sparserec.methods import METHOD_PRESETS, METHODS
from sparserec.recommenders import PRESETS, RECOMMENDERS, make_recommender
from sparserec.settings import Settings, Times
from sparserec.training import RunConfig, build_config, flat_settings
from sparserec.training.config import GRAPH_BASE, LIKE, RATE_OF_BASE, RECIPES, Recipe

DOCS = Path(__file__).parent
LIVE = DOCS / "_live"
COMMANDS = DOCS / "reference" / "cli.md"
SETTINGS = DOCS / "reference" / "settings.md"


def make_live_page() -> None:
    """Train the built-in city and export its page, unless that was done before."""
    if (LIVE / "city.html").exists():
        return
    LIVE.mkdir(exist_ok=True)
    run = LIVE.parent.parent / "site-run"
    command = [sys.executable, "-m", "sparserec"]
    subprocess.run([*command, "train", "world", "--run", run], check=True)
    files = ["--out", LIVE / "city.srec", "--page", LIVE / "city.html", "--page-title", "Veyra"]
    subprocess.run([*command, "export", run, *files], check=True)
    shutil.rmtree(run)


def write_commands() -> None:
    """The reference of the command line, from the commands themselves."""
    command = get_command(build_app())
    lines = [
        "# Command line",
        "",
        "Made from `sparserec --help` and the help of each command.",
        "",
        *(line for name, one in command.commands.items() for line in _command(name, one)),  # type: ignore[attr-defined]
    ]
    COMMANDS.write_text("\n".join(lines), encoding="utf-8")


def _command(name: str, command: Any) -> list[str]:
    if hasattr(command, "commands"):
        return [line for part, one in command.commands.items() for line in _command(f"{name} {part}", one)]
    rows = [
        f"| {_names(one)} | {_cell(getattr(one, 'help', None) or '')} |"
        for one in command.params
        if "--help" not in one.opts
    ]
    table = ["| option | |", "|---|---|", *rows, ""] if rows else []
    return [f"## {name}", "", *(command.help or "").split("\f")[0].splitlines(), "", *table]


def _names(parameter: Any) -> str:
    """`--k, -k`, `--exclude-seen / --include-seen`, or the name of an argument in capitals."""
    if parameter.param_type_name == "argument":
        return f"`{(parameter.metavar or parameter.name).upper()}`"
    both = [", ".join(parameter.opts), ", ".join(parameter.secondary_opts)]
    return f"`{' / '.join(one for one in both if one)}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def write_settings() -> None:
    """The reference of all settings, from the classes that hold them."""
    SETTINGS.write_text("\n".join(settings_page()), encoding="utf-8")


def settings_page() -> list[str]:
    """The run, its reading and recipe, the bases, the methods: every setting, its default and what `tune` tries."""
    like = {name: _assignments(values) for name, values in LIKE.items()}
    return [
        "# Settings",
        "",
        "Made from the classes that hold them. On the command line every setting is `--set NAME=VALUE`, as in `--set",
        "recipe.epochs=20`; in a file for `--config` it stands in its group, and `sparserec.fit` takes",
        '`recipe={"epochs": 20}`. An empty default is None (`null` after `=`): something else decides.',
        "`sparserec config show` prints what a command would train with. The last column is what `sparserec tune`",
        "searches; it leaves all other settings as they are.",
        "",
        "## Run",
        "",
        *_table(RunConfig, "", leave_out=("read", "recipe", "base_settings", "method_settings", "settled")),
        f"`--like paper` sets {like['paper']} and the preset `paper-gowalla`, or the one of the data set.",
        "",
        "### Protocols",
        "",
        *_rows(("`--protocol`", ""), ((f"`{name}`", _text(one.__doc__)) for name, one in PROTOCOLS.items())),
        "## Reading",
        "",
        *_table(ReadOptions, "read."),
        *_recipes(),
        *(line for name in RECOMMENDERS for line in _base(name)),
        *(line for name in METHODS for line in _method(name)),
    ]


def _recipes() -> list[str]:
    """The recipe's settings by base, since no default is the same everywhere, and those that have a name."""
    of = {base: build_config({"base": base}).recipe for base in ("history", GRAPH_BASE, *RATE_OF_BASE)}
    rows = (
        (f"`recipe.{name}`", *(_value(getattr(one, name)) for one in of.values()), *_about(Recipe, name))
        for name in Recipe.model_fields
    )
    usual = {name: field.default for name, field in Recipe.model_fields.items() if field.default is not None}
    return [
        "## Recipe",
        "",
        "How long, and how fast. Bases that are not shown have the defaults of `lightgcn`.",
        "",
        *_rows(("setting", *(f"`{base}`" for base in of), "", "tune"), rows),
        "### Named recipes",
        "",
        f"What a recipe leaves out is {_assignments(usual)}. Who gives `epochs`, or `batch_size` on a graph base, is",
        "held to no least number of steps.",
        "",
        *_presets("--recipe", RECIPES),
    ]


def _base(name: str) -> list[str]:
    kind = RECOMMENDERS[name]
    rows = "users and items have rows" if make_recommender(name).user_rows else "items alone have rows"
    about = [f"## Base {name}", "", f"`--base {name}`: {kind.idea}; {rows}.", ""]
    return [
        *about,
        *_table(kind.settings_kind, "base_settings."),
        *_presets("--preset", PRESETS.get(name, {})),
    ]


def _method(name: str) -> list[str]:
    kind, presets = METHODS[name], METHOD_PRESETS.get(name, {})
    about = [f"## Method {name}", "", f"`--method {name}`: {kind.idea}.", ""]
    if kind.item_starts:
        best, least = _assignments(kind.item_starts[0]), _assignments(kind.item_starts[-1])
        about += [
            f"On base `history`, where `init` is left open, it is {best}; {least} where several processes share the",
            "table, or where a dense one does not fit into memory.",
            "",
        ]
    return [
        *about,
        *_table(kind.settings_kind, "method_settings."),
        *_presets("--set method_settings.preset=", presets),
    ]


def _presets(option: str, presets: dict[str, dict[str, Any]]) -> list[str]:
    """Names that stand for several settings."""
    rows = ((f"`{name}`", _assignments(flat_settings(values))) for name, values in presets.items())
    return _rows((f"`{option}`", "sets"), rows) if presets else []


def _table(kind: type[Settings], group: str, leave_out: Collection[str] = ()) -> list[str]:
    rows = [
        (f"`{group}{name}`", _value(field.get_default(call_default_factory=True)), *_about(kind, name))
        for name, field in kind.model_fields.items()
        if name not in leave_out
    ]
    return _rows(("setting", "default", "", "tune"), rows) if rows else ["It has no settings.", ""]


def _about(kind: type[Settings], name: str) -> tuple[str, str]:
    """What a setting means and may be, and what a search tries of it."""
    field, between = kind.model_fields[name], kind.search_ranges().get(name)
    words = [f"`{word}`" for word in _words(field.annotation)]
    text = _text(field.description) + (f" One of {', '.join(words)}." if len(words) > 1 else "")
    if between is None:
        return text, ""
    return text, f"{between.low:g} to {between.high:g}" + (" times it" if isinstance(between, Times) else "")


def _words(annotation: Any) -> list[str]:
    """Those that a setting may be, where it is a word."""
    if get_origin(annotation) is Literal:
        return [str(word) for word in get_args(annotation)]
    return [word for part in get_args(annotation) for word in _words(part)]


def _assignments(values: dict[str, Any]) -> str:
    return ", ".join(f"`{name}={_typed(value)}`" for name, value in values.items())


def _value(value: Any) -> str:
    return "" if value in (None, ()) else f"`{_typed(value)}`"


def _typed(value: Any) -> str:
    """As one types it after `--set`."""
    return value if isinstance(value, str) else json.dumps(value)


def _text(text: str | None) -> str:
    return " ".join((text or "").split())


def _rows(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    lines = (f"| {' | '.join(map(_cell, row))} |" for row in rows)
    return [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *lines, ""]


def main() -> None:
    make_live_page()
    write_commands()
    write_settings()
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", DOCS, *sys.argv[1:]]
    sys.exit(subprocess.run(command).returncode)


if __name__ == "__main__":
    main()
