"""Plain values as TOML text. The standard library reads TOML and does not write it."""

from __future__ import annotations

import json
import re
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(values: dict[str, Any]) -> str:
    """Simple values first, then one section per group. TOML has no null: an unset value becomes a comment.

    A recipe without final_learning_rate is a variant of the stored recipe `paper`, so it names that one.
    """
    lines = [_line(name, value) for name, value in values.items() if not isinstance(value, dict)]
    for name, group in values.items():
        if isinstance(group, dict):
            lines += ["", f"[{_key(name)}]"]
            if name == "recipe" and group.get("final_learning_rate", 0) is None:
                lines.append('preset = "paper"')
            lines += [_line(key, value) for key, value in group.items()]
    return "\n".join(lines) + "\n"


def _line(name: str, value: Any) -> str:
    return f"# {name} is not set" if value is None else f"{_key(name)} = {_value(value)}"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _text(text: str) -> str:
    """JSON's escapes are TOML's, but for one sign that TOML wants escaped and JSON does not."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(one) for one in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(name)} = {_value(one)}" for name, one in value.items()) + "}"
    raise TypeError(f"{value!r} has no form in TOML")
