"""Options that several commands share: one home, one wording, one way into the settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from sparserec.cli.answers import HELP
from sparserec.errors import SettingError

Data = Annotated[
    Optional[str], typer.Argument(help="A named data set (see `sparserec data list`) or a path.")
]
Base = Annotated[
    Optional[str], typer.Option(help="Base recommender (see `sparserec bases`), or package.module:Class.")
]
Method = Annotated[
    Optional[str],
    typer.Option(
        help="How the parameter budget is spent (see `sparserec methods`), or package.module:Class."
    ),
]
Density = Annotated[Optional[float], typer.Option(help="Share of the full table that is kept.")]
Dim = Annotated[Optional[int], typer.Option(help="Columns of the full table.")]
Epochs = Annotated[Optional[int], typer.Option(help="Length of a full training.")]
RecipeName = Annotated[
    Optional[str],
    typer.Option(
        help="Named recipe: default, history, fall-100, plain, paper-rate, paper or paper-yelp-lightgcn."
    ),
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
WeightColumn = Annotated[
    Optional[str], typer.Option(help="Name of a column with the weight of each row in the loss.")
]
CountRepeats = Annotated[
    Optional[bool], typer.Option("--count-repeats", help="A pair weighs as many as it has rows, not once.")
]
MinRating = Annotated[Optional[float], typer.Option(help="Count only ratings of at least this.")]
Core = Annotated[
    Optional[int],
    typer.Option("--min-interactions", help="Leave out users and items with fewer interactions."),
]
DrawUsers = Annotated[
    Optional[int],
    typer.Option(help="Draw this many users and leave out the others, to try things on a part."),
]

Final = Annotated[
    Optional[bool],
    typer.Option("--final", help="Then train once more on everything, as long as validation chose: to ship."),
]
MostNmfWork = Annotated[
    Optional[float],
    typer.Option(help="Largest factorisation, in billions of nodes * dim^2 * iterations; 0 for no limit."),
]
Metadata = Annotated[Optional[Path], typer.Option(help="Table with item id, title and tags.")]
DataDir = Annotated[
    Optional[Path], typer.Option(help="Folder with data sets; else SPARSEREC_DATA, the cache.")
]
Threads = Annotated[
    Optional[int], typer.Option(help="Threads; default all cores, one to train on a small log.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress.")]
AsJson = Annotated[bool, typer.Option("--json", help=HELP["json"])]
RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help=HELP["run"])]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")]

READING = (
    "user_col", "item_col", "rating_col", "time_col", "weight_col", "count_repeats", "min_rating", "core",
    "draw_users",
)  # fmt: skip
SETTINGS = {
    **{name: name for name in ("data", "base", "method", "density", "dim", "like", "preset", "protocol", "seed")},
    "final": "final",
    "epochs": "recipe.epochs", "recipe": "recipe.preset", **{name: f"read.{name}" for name in READING},
}  # fmt: skip
"""Where the value of each parameter goes in the settings."""


TRAINED: dict[str, Any] = {
    "data": Data,
    "base": Base,
    "method": Method,
    "density": Density,
    "dim": Dim,
    "epochs": Epochs,
    "recipe": RecipeName,
    "like": Like,
    "preset": Preset,
    "protocol": Protocol,
    "seed": Seed,
    "user_col": UserColumn,
    "item_col": ItemColumn,
    "rating_col": RatingColumn,
    "time_col": TimeColumn,
    "weight_col": WeightColumn,
    "count_repeats": CountRepeats,
    "min_rating": MinRating,
    "core": Core,
    "draw_users": DrawUsers,
    "config": ConfigFile,
    "assignments": Assignments,
}
"""Parameters of every command that is about a training."""


Command = Callable[..., None]


def _with(parameters: dict[str, Any], command: Command) -> Command:
    own = list(signature(command, eval_str=True).parameters.values())

    @wraps(command)
    def taking(context: typer.Context, **typed: Any) -> None:
        command(context, **{one.name: typed[one.name] for one in own[1:]})

    shared = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in parameters.items()
    ]
    own = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in own]
    taking.__signature__ = Signature([*own[:1], *shared, *own[1:]])  # type: ignore[attr-defined]
    taking.__annotations__ = {one.name: one.annotation for one in [*own, *shared]}
    return taking


with_settings = partial(_with, TRAINED)
"""The command, taking everything that says what to train too; `typed_settings` reads it from the context."""
with_reading = partial(_with, {name: TRAINED[name] for name in READING})
"""The command, taking everything that says how to read a log; `typed_reading` reads it from the context."""


def typed_settings(context: typer.Context) -> tuple[Path | None, dict[str, Any], list[str]]:
    """What was typed for the settings: a file, options by the place where they belong, and --set."""
    values = {
        place: context.params[name]
        for name, place in SETTINGS.items()
        if context.params.get(name) is not None
    }
    return context.params["config"], values, context.params["assignments"] or []


def typed_reading(context: typer.Context) -> dict[str, Any]:
    """What was typed for the reader among a command's parameters."""
    return {name: context.params[name] for name in READING if context.params.get(name) is not None}


def check_choice(name: str, value: Any, known: Sequence[Any]) -> None:
    """Raise unless the value is one of the known ones."""
    if value not in known:
        raise SettingError(
            f"{name} {value!r}: must be one of {', '.join(str(one) for one in known if one is not None)}"
        )
