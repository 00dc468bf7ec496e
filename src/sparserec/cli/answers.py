"""What `recommend`, `similar` and `inspect` do once their options are read. Needs numpy alone.

Two command lines share it: the whole one (typer) and that of the reader (argparse).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparserec.cli.items import on_a_terminal, typed_item, typed_items
from sparserec.cli.printing import BOLD, print_table, print_text, styled, warn
from sparserec.cli.typed import id_list
from sparserec.visible import visible

if TYPE_CHECKING:
    from sparserec.serving import Recommendations

HELP = {
    "run": "A run folder or an exported .srec file.",
    "file": "A .srec file.",
    "user": "A user of the log.",
    "history": "Items of somebody new, by id or title; repeatable (or @FILE).",
    "item": "The item to compare with, by id or title.",
    "k": "How many items.",
    "exclude_seen": "Leave out what the user already knows.",
    "allow": "Recommend only these (or @FILE).",
    "deny": "Recommend none of these (or @FILE).",
    "explain": "Say which items of the history speak for it.",
    "json": "Print one JSON value instead of text.",
}
"""The words of the help, which both command lines print."""

SHOWN_REASONS = 3


@dataclass(frozen=True)
class Question:
    """The options of `recommend` as they were typed."""

    user: str | None = None
    history: list[str] | None = None
    k: int = 20
    exclude_seen: bool = True
    allow: str | None = None
    deny: str | None = None
    explain: bool = False

    def limits(self) -> dict[str, Any]:
        """Which items may be recommended."""
        return {
            "exclude_seen": self.exclude_seen,
            "allow": id_list(self.allow, "--allow"),
            "deny": id_list(self.deny, "--deny"),
        }


def recommend(run: Path, question: Question, as_json: bool) -> None:
    """Recommend items from a trained run or an exported file."""
    import sparserec
    from sparserec.serving import QuestionError

    user, history, limits = question.user, question.history, question.limits()
    model = sparserec.load(run)
    alone = model.about_one_user
    if (user is not None and history is not None) or (user is None and history is None and not alone):
        everybody = " (or --all with --out FILE)" if run.is_dir() else ""
        raise QuestionError(f"give either --user ID or --history a,b,c{everybody}")
    who = {"user": user, "history": typed_items(model, history, "--history", on_a_terminal() and not as_json)}
    found = model.recommend(k=question.k, **who, **limits)  # type: ignore[arg-type]
    reasons = [model.explain(**who, item=one.id) for one in found] if question.explain else []  # type: ignore[arg-type]
    if as_json:
        answer: dict[str, Any] = {**who, **found.as_dict()}
        for item, reason in zip(answer["items"], reasons):
            item["explanation"] = reason.as_dict()
        print(json.dumps(answer))
    else:
        _print_recommended(found, user, reasons)


def similar(run: Path, item: str, k: int, as_json: bool) -> None:
    """List the items whose vectors are nearest to that of an item."""
    import sparserec

    model = sparserec.load(run)
    item = typed_item(model, item, on_a_terminal() and not as_json)
    found = model.similar(item, k)
    if as_json:
        print(json.dumps({"item": item, "items": found.as_dict()["items"]}))
    else:
        print_table(_item_rows(found, "cosine"), f"Nearest to {item}", left=("item", "title"))


def inspect(file: Path, as_json: bool) -> None:
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
    card = {**model.card(), "self_test": f"passed, {queries} queries"}
    print(json.dumps(card, default=str)) if as_json else _print_card(card)


def _print_recommended(found: Recommendations, user: str | None, reasons: list[Any]) -> None:
    from sparserec.serving import BASIS_TEXT

    if found.ignored:
        warn(f"not known to this model and left out: {', '.join(map(str, found.ignored))}")
    owner = "For the user of this file" if found.basis == "trained" else "For this history"
    title = f"For user {user}" if user is not None else owner
    if reasons:
        _print_reasons(found, reasons, title)
    else:
        print_table(_item_rows(found, "score"), title, left=("item", "title"))
    print_text(f"Scores: {BASIS_TEXT[found.basis]}.")
    if reasons and user is not None:
        print_text(
            "Reasons: the user's train history folded in, which is close to the trained vector but not it."
        )


def _item_rows(found: Recommendations, score: str) -> list[dict[str, Any]]:
    """Rank, id, title where there are any, and score."""
    titled = any(item.title is not None for item in found)
    return [
        {"rank": rank, "item": str(item.id)} | ({"title": item.title} if titled else {}) | {score: item.score}
        for rank, item in enumerate(found, 1)
    ]


def _print_reasons(found: Recommendations, reasons: list[Any], title: str) -> None:
    from sparserec.serving import name_of

    print(styled(visible(title), BOLD))
    for rank, (item, reason) in enumerate(zip(found, reasons), 1):
        print(f"{rank:4d}  {item.score:8.4f}  {name_of(item)}")
        best = [
            f"{visible(str(part.title or part.id))} {part.score:+.3f}"
            for part in reason.contributions[:SHOWN_REASONS]
        ]
        if best:
            print_text("because of " + ", ".join(best), indent=" " * 16)


def _print_card(card: dict[str, object], indent: str = "") -> None:
    for name, value in card.items():
        if isinstance(value, dict):
            print(f"{indent}{visible(name)}:")
            _print_card(value, indent + "  ")
        else:
            print(f"{indent}{visible(name)}: {visible(str(value))}")
