"""The command line of the reader alone: `pip install sparserec` brings numpy, and these commands need no more.

The whole command line has the same commands with the same options and words; a test compares the two.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Sequence
from pathlib import Path

from sparserec import SENTENCE, __version__
from sparserec.cli import answers
from sparserec.cli.answers import HELP, Question
from sparserec.cli.commands import COMMANDS
from sparserec.extras import MissingExtraError

INSTALL = "pip install 'sparserec[train]'"


def run_reader(words: Sequence[str]) -> None:
    """Run a command of the reader; those of the whole package are named with what to install."""
    parser = build_parser()
    if words and words[0] in COMMANDS and words[0] not in READING:
        raise MissingExtraError(f"`sparserec {words[0]}` is not part of the reader: {INSTALL}")
    typed = parser.parse_args(words)
    if "run_command" not in typed:
        parser.print_help()
        parser.exit(2)
    typed.run_command(typed)


def build_parser() -> ArgumentParser:
    """The parser of all commands that only read."""
    parser = ArgumentParser(
        "sparserec", description=SENTENCE, epilog=f"This is the reader alone. To train and export: {INSTALL}"
    )
    parser.add_argument("--version", action="version", version=f"sparserec {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for add in READING.values():
        add(commands)
    return parser


def _add_recommend(commands: _SubParsersAction[ArgumentParser]) -> None:
    parser = _add(commands, "recommend", answers.recommend.__doc__)
    parser.add_argument("run", metavar="RUN", type=Path, help=HELP["run"])
    parser.add_argument("--user", metavar="ID", help=HELP["user"])
    parser.add_argument("--history", metavar="A,B,C", action="append", help=HELP["history"])
    parser.add_argument("--k", "-k", type=int, default=20, help=HELP["k"])
    parser.add_argument("--exclude-seen", action="store_true", default=True, help=HELP["exclude_seen"])
    parser.add_argument("--include-seen", action="store_false", dest="exclude_seen", help="Keep it.")
    for name in ("allow", "deny"):
        parser.add_argument(f"--{name}", metavar="A,B,C", help=HELP[name])
    parser.add_argument("--explain", action="store_true", help=HELP["explain"])
    parser.set_defaults(run_command=_recommend)


def _recommend(typed: Namespace) -> None:
    fields = {name: getattr(typed, name) for name in Question.__dataclass_fields__}
    answers.recommend(typed.run, Question(**fields), typed.json)


def _add_similar(commands: _SubParsersAction[ArgumentParser]) -> None:
    parser = _add(commands, "similar", answers.similar.__doc__)
    parser.add_argument("run", metavar="RUN", type=Path, help=HELP["run"])
    parser.add_argument("--item", metavar="ID", required=True, help=HELP["item"])
    parser.add_argument("--k", "-k", type=int, default=20, help=HELP["k"])
    parser.set_defaults(run_command=lambda typed: answers.similar(typed.run, typed.item, typed.k, typed.json))


def _add_inspect(commands: _SubParsersAction[ArgumentParser]) -> None:
    parser = _add(commands, "inspect", answers.inspect.__doc__)
    parser.add_argument("file", metavar="FILE", type=Path, help=HELP["file"])
    parser.set_defaults(run_command=lambda typed: answers.inspect(typed.file, typed.json))


def _add(commands: _SubParsersAction[ArgumentParser], name: str, text: str | None) -> ArgumentParser:
    parser = commands.add_parser(name, help=text, description=text)
    parser.add_argument("--json", action="store_true", help=HELP["json"])
    return parser


READING = {"recommend": _add_recommend, "similar": _add_similar, "inspect": _add_inspect}
