"""sparserec recommend: for a user of the log, for anybody with a history, or for everybody into a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from sparserec.cli import options

if TYPE_CHECKING:
    from sparserec.serving import Recommendations

SHOWN_REASONS = 3


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(recommend)


def recommend(
    run: options.RunArgument,
    user: Annotated[Optional[str], typer.Option(metavar="ID", help="A user of the log.")] = None,
    history: Annotated[
        Optional[list[str]],
        typer.Option(metavar="A,B,C", help="Items of somebody new, by id or title; repeatable (or @FILE)."),
    ] = None,
    k: Annotated[int, typer.Option("--k", "-k", help="How many items.")] = 20,
    exclude_seen: Annotated[
        bool, typer.Option("--exclude-seen/--include-seen", help="Leave out what the user already knows.")
    ] = True,
    allow: Annotated[
        Optional[str], typer.Option(metavar="A,B,C", help="Recommend only these (or @FILE).")
    ] = None,
    deny: Annotated[
        Optional[str], typer.Option(metavar="A,B,C", help="Recommend none of these (or @FILE).")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say which items of the history speak for it.")
    ] = False,
    everybody: Annotated[bool, typer.Option("--all", help="For all users; needs --out.")] = False,
    out: Annotated[
        Optional[Path], typer.Option(metavar="FILE", help="With --all: a .csv or .parquet file to write.")
    ] = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Recommend items from a trained run or an exported file."""
    import sparserec
    from sparserec.cli.items import on_a_terminal, typed_items
    from sparserec.cli.options import id_list
    from sparserec.serving import QuestionError

    limits = {
        "exclude_seen": exclude_seen,
        "allow": id_list(allow, "--allow"),
        "deny": id_list(deny, "--deny"),
    }
    if everybody or out is not None:
        if not (everybody and out) or user is not None or history is not None or explain:
            raise QuestionError(
                "recommendations for everybody: give --all and --out FILE, no user or history"
            )
        return _write_everybody(run, out, k, limits, quiet, as_json)
    model = sparserec.load(run)
    alone = model.about_one_user
    if (user is not None and history is not None) or (user is None and history is None and not alone):
        raise QuestionError("give either --user ID or --history a,b,c (or --all with --out FILE)")
    asked = {
        "user": user,
        "history": typed_items(model, history, "--history", on_a_terminal() and not as_json),
    }
    found = model.recommend(k=k, **asked, **limits)  # type: ignore[arg-type]
    reasons = [model.explain(**asked, item=one.id) for one in found] if explain else []  # type: ignore[arg-type]
    if as_json:
        answer: dict[str, Any] = {**asked, **found.as_dict()}
        for item, reason in zip(answer["items"], reasons):
            item["explanation"] = reason.as_dict()
        typer.echo(json.dumps(answer))
    else:
        _print(found, user, reasons)


def _print(found: Recommendations, user: str | None, reasons: list[Any]) -> None:
    from sparserec.cli.printing import print_table, print_text, warn
    from sparserec.serving import BASIS_TEXT

    if found.ignored:
        warn(f"not known to this model and left out: {', '.join(map(str, found.ignored))}")
    owner = "For the user of this file" if found.basis == "trained" else "For this history"
    title = f"For user {user}" if user is not None else owner
    if reasons:
        _print_reasons(found, reasons, title)
    else:
        print_table(item_rows(found, "score"), title, left=("item", "title"))
    print_text(f"Scores: {BASIS_TEXT[found.basis]}.")
    if reasons and user is not None:
        print_text(
            "Reasons: the user's train history folded in, which is close to the trained vector but not it."
        )


def item_rows(found: Recommendations, score: str) -> list[dict[str, Any]]:
    """Rank, id, title where there are any, and score."""
    titled = any(item.title is not None for item in found)
    return [
        {"rank": rank, "item": str(item.id)} | ({"title": item.title} if titled else {}) | {score: item.score}
        for rank, item in enumerate(found, 1)
    ]


def _print_reasons(found: Recommendations, reasons: list[Any], title: str) -> None:
    from sparserec.cli.printing import print_text
    from sparserec.serving import name_of

    typer.secho(title, bold=True)
    for rank, (item, reason) in enumerate(zip(found, reasons), 1):
        typer.echo(f"{rank:4d}  {item.score:8.4f}  {name_of(item)}")
        best = [f"{part.title or part.id} {part.score:+.3f}" for part in reason.contributions[:SHOWN_REASONS]]
        if best:
            print_text("because of " + ", ".join(best), indent=" " * 16)


def _write_everybody(
    run: Path, out: Path, k: int, limits: dict[str, Any], quiet: bool, as_json: bool
) -> None:
    import sparserec
    from sparserec.serving import Model, QuestionError, check_out

    check_out(out)
    model = sparserec.load(run)
    if not isinstance(model, Model):
        raise QuestionError(
            f"{run}: --all needs a run folder, which knows all users; this is an exported file"
        )
    rows = model.recommend_all(k, out, progress=not quiet, **limits)
    users = len(model.user_ids)
    if as_json:
        typer.echo(json.dumps({"out": str(out), "users": users, "rows": rows}))
    else:
        typer.echo(f"{out}: {rows:,} recommendations for {users:,} users")
