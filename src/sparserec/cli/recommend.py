"""What a model is asked: sparserec recommend (a user, a history, everybody), sparserec similar, sparserec inspect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Optional

import typer

from sparserec.cli import answers, options
from sparserec.cli.answers import HELP, Question


def recommend(
    run: options.RunArgument,
    user: Annotated[Optional[str], typer.Option(metavar="ID", help=HELP["user"])] = None,
    history: Annotated[Optional[list[str]], typer.Option(metavar="A,B,C", help=HELP["history"])] = None,
    k: Annotated[int, typer.Option("--k", "-k", help=HELP["k"])] = 20,
    exclude_seen: Annotated[
        bool, typer.Option("--exclude-seen/--include-seen", help=HELP["exclude_seen"])
    ] = True,
    allow: Annotated[Optional[str], typer.Option(metavar="A,B,C", help=HELP["allow"])] = None,
    deny: Annotated[Optional[str], typer.Option(metavar="A,B,C", help=HELP["deny"])] = None,
    explain: Annotated[bool, typer.Option("--explain", help=HELP["explain"])] = False,
    everybody: Annotated[bool, typer.Option("--all", help="For all users; needs --out.")] = False,
    out: Annotated[
        Optional[Path],
        typer.Option(
            metavar="FILE",
            help="With --all: a .csv or .parquet file to write. In .csv formulas get an apostrophe.",
        ),
    ] = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Recommend items from a trained run or an exported file."""
    question = Question(user, history, k, exclude_seen, allow, deny, explain)
    if not everybody and out is None:
        answers.recommend(run, question, as_json)
        return
    from sparserec.serving import QuestionError

    if not (everybody and out) or user is not None or history is not None or explain:
        raise QuestionError("recommendations for everybody: give --all and --out FILE, no user or history")
    _write_everybody(run, out, question, quiet, as_json)


def _write_everybody(run: Path, out: Path, question: Question, quiet: bool, as_json: bool) -> None:
    import sparserec
    from sparserec.serving import Model, QuestionError, check_out

    check_out(out)
    model = sparserec.load(run)
    if not isinstance(model, Model):
        raise QuestionError(
            f"{run}: --all needs a run folder, which knows all users; this is an exported file"
        )
    rows = model.recommend_all(question.k, out, progress=not quiet, **question.limits())
    users = len(model.user_ids)
    if as_json:
        typer.echo(json.dumps({"out": str(out), "users": users, "rows": rows}))
    else:
        typer.echo(f"{out}: {rows:,} recommendations for {users:,} users")


def similar(
    run: options.RunArgument,
    item: Annotated[str, typer.Option(metavar="ID", help=HELP["item"])],
    k: Annotated[int, typer.Option("--k", "-k", help=HELP["k"])] = 20,
    as_json: options.AsJson = False,
) -> None:
    """List the items whose vectors are nearest to that of an item."""
    answers.similar(run, item, k, as_json)


def inspect(
    file: Annotated[Path, typer.Argument(help=HELP["file"])], as_json: options.AsJson = False
) -> None:
    """Print the card of a device file and run its self-test."""
    answers.inspect(file, as_json)
