"""Words of the command line: lists of ids as they are typed, and messages in terms of what can be typed."""

from __future__ import annotations

import json
import re
from pathlib import Path

from sparserec.errors import SettingError

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
