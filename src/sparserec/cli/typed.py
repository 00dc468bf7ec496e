"""From what was typed to what was meant, and back: lists of ids, and messages in words of the command line.

Needs nothing that is not in the standard library: the commands that only read work without typer.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from sparserec.errors import SettingError

_FLAGS = (
    "user_col", "item_col", "rating_col", "time_col", "weight_col", "count_repeats", "min_rating", "budget",
    "keep", "min_users", "list_users", "user", "threads",
    "include_everyones_history", "page_color", "dim", "density", "protocol", "force", "resume", "dense_run", "final",
    "runs", "trials", "minutes",
)  # fmt: skip
_SPELLED = {
    "header": "--set read.header=true", "titles=false": "--no-titles", "folder": "--run", "warm": "--from",
}  # fmt: skip
_ASSIGNMENT = re.compile(r"[a-z_.]+=\S+")


def as_typed(message: str) -> str:
    """A message of the library, which names arguments as Python does (`user_col`), in words of the command line.

    Between backquotes stand an argument or a setting with its value (`recipe.epochs=5`).
    """

    def typed(found: re.Match[str]) -> str:
        name = found[1]
        if name in _FLAGS:
            return f"--{name.replace('_', '-')}"
        return _SPELLED.get(name, f"--set {name}" if _ASSIGNMENT.fullmatch(name) else found[0])

    return re.sub(r"`([^`\s]+)`", typed, message)


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
