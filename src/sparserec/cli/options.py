"""Options that several commands share: one home, one wording, one way into the settings."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from sparserec.errors import SettingError

Data = Annotated[
    Optional[str], typer.Argument(help="A named data set (see `sparserec data list`) or a path.")
]
Base = Annotated[Optional[str], typer.Option(help="Base recommender: lightgcn, mgdcf, xsimgcl or mf.")]
Method = Annotated[Optional[str], typer.Option(help="How the parameter budget is spent.")]
Density = Annotated[Optional[float], typer.Option(help="Share of the full table that is kept.")]
Dim = Annotated[Optional[int], typer.Option(help="Columns of the full table.")]
Epochs = Annotated[Optional[int], typer.Option(help="Length of a full training.")]
RecipeName = Annotated[
    Optional[str], typer.Option(help="Named recipe: default, paper-rate, paper or paper-yelp-lightgcn.")
]
Preset = Annotated[
    Optional[str], typer.Option(help="Published settings of the base, such as published-gowalla.")
]
Like = Annotated[
    Optional[str], typer.Option(help="paper: base, method and recipe of SparseRec's authors, in one word.")
]
Protocol = Annotated[
    Optional[str], typer.Option(help="Split: resplit, public, public-full, temporal, files or new-users.")
]
Seed = Annotated[Optional[int], typer.Option(help="Seed of everything but the split.")]
ConfigFile = Annotated[Optional[Path], typer.Option(help="TOML file with settings.")]
Assignments = Annotated[
    Optional[list[str]], typer.Option("--set", help="Any setting, as key=value; repeatable.")
]

UserColumn = Annotated[Optional[str], typer.Option(help="Name of the user column.")]
ItemColumn = Annotated[Optional[str], typer.Option(help="Name of the item column.")]
RatingColumn = Annotated[Optional[str], typer.Option(help="Name of the rating column; empty to ignore.")]
TimeColumn = Annotated[Optional[str], typer.Option(help="Name of the time column; empty to ignore.")]
MinRating = Annotated[Optional[float], typer.Option(help="Count only ratings of at least this.")]
Core = Annotated[Optional[int], typer.Option(help="Leave out users and items with fewer interactions.")]

NmfLimit = Annotated[
    Optional[float],
    typer.Option(help="Largest factorisation, in billions of nodes * dim^2 * iterations; 0 for no limit."),
]
Metadata = Annotated[Optional[Path], typer.Option(help="Table with item id, title and tags.")]
DataDir = Annotated[
    Optional[Path], typer.Option(help="Folder with data sets; else SPARSEREC_DATA, the cache.")
]
Threads = Annotated[Optional[int], typer.Option(help="Threads; default all cores.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value instead of text.")]
RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder or an exported .srec file.")]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")]

READING = ("user_col", "item_col", "rating_col", "time_col", "min_rating", "core")
SETTINGS = {
    **{name: name for name in ("data", "base", "method", "density", "dim", "like", "preset", "protocol", "seed")},
    "epochs": "recipe.epochs", "recipe": "recipe.preset", **{name: f"read.{name}" for name in READING},
}  # fmt: skip
"""Where the value of each parameter goes in the settings."""


def typed_settings(context: typer.Context) -> dict[str, Any]:
    """What was typed for the settings among a command's parameters, by the place where it belongs."""
    return {
        place: context.params[name]
        for name, place in SETTINGS.items()
        if context.params.get(name) is not None
    }


def typed_reading(context: typer.Context) -> dict[str, Any]:
    """What was typed for the reader among a command's parameters."""
    return {name: context.params[name] for name in READING if context.params.get(name) is not None}


_FLAGS = ("user_col", "item_col", "rating_col", "time_col", "min_rating")
_SETTINGS = {"header": "--set read.header=true"}


def as_typed(message: str) -> str:
    """A message of the library, which names arguments as Python does (`user_col`), in words of the command line."""

    def typed(found: re.Match[str]) -> str:
        name = found[1]
        return f"--{name.replace('_', '-')}" if name in _FLAGS else _SETTINGS.get(name, found[0])

    return re.sub(r"`(\w+)`", typed, message)


def id_list(text: str | None, option: str) -> list[str] | None:
    """`a,b,c`, a JSON list (for ids with commas) or `@FILE` with one id per line; None stays None."""
    if text is None:
        return None
    if text.startswith("@"):
        try:
            lines = Path(text[1:]).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise SettingError(f"{option} {text}: cannot read that file ({error})") from None
        return [line.strip() for line in lines if line.strip()]
    if text.startswith("["):
        try:
            return [str(one) for one in json.loads(text)]
        except (ValueError, TypeError) as error:
            raise SettingError(f"{option} {text}: not a JSON list ({error})") from None
    return [one.strip() for one in text.split(",") if one.strip()]


def check_choice(name: str, value: Any, known: Sequence[Any]) -> None:
    """Raise unless the value is one of the known ones."""
    if value not in known:
        raise SettingError(
            f"{name} {value!r}: must be one of {', '.join(str(one) for one in known if one is not None)}"
        )
