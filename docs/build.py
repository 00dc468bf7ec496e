"""Builds the site into a folder: `python docs/build.py site`.

Two of its parts are made here: the page of a trained model, which runs on the front, and the reference of all commands.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from typer.main import get_command

from sparserec.cli.app import build_app

DOCS = Path(__file__).parent
LIVE = DOCS / "_live"
COMMANDS = DOCS / "reference" / "cli.md"


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


def main() -> None:
    make_live_page()
    write_commands()
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", DOCS, *sys.argv[1:]]
    sys.exit(subprocess.run(command).returncode)


if __name__ == "__main__":
    main()
