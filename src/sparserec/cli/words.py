"""Lists of ids as they are typed on a command line."""

from __future__ import annotations

import json
from pathlib import Path

from sparserec.errors import SettingError


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
