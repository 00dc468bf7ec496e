"""A colour of one's own for the page, made dark or light enough to be read on both of its grounds."""

from __future__ import annotations

import re

from sparserec.errors import SettingError

DEFAULT_COLOUR = "#0d6b5c"
_LEAST_CONTRAST = 4.5  # WCAG AA for text
_LIGHT_GROUND, _DARK_GROUND = "#eceae4", "#262b31"  # the least favourable grounds of page.css
_STEPS = 20


def check_colour(text: str) -> str:
    """A colour as #rrggbb, in lower case."""
    if not re.fullmatch(r"#?[0-9a-fA-F]{6}", text):
        raise SettingError(f"page_color {text!r}: write a colour as #rrggbb, for example {DEFAULT_COLOUR}")
    return f"#{text.removeprefix('#').lower()}"


def colour_style(colour: str) -> str:
    """Rules that set the accent for light and dark pages."""
    light, dark = (_readable(colour, _LIGHT_GROUND, "#000000"), _readable(colour, _DARK_GROUND, "#ffffff"))
    return (
        f"\n:root {{ --accent: {light}; --on-accent: #fff; }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ --accent: {dark}; --on-accent: #0b0d0f; }} }}\n"
    )


def _readable(colour: str, ground: str, towards: str) -> str:
    """The colour, mixed with black or white just far enough to be read on the ground."""
    for step in range(_STEPS + 1):
        mixed = _mix(colour, towards, step / _STEPS)
        if contrast(mixed, ground) >= _LEAST_CONTRAST:
            return mixed
    raise AssertionError("black and white can be read on every ground of the page")


def contrast(one: str, other: str) -> float:
    """WCAG contrast of two colours, from 1 to 21."""
    brighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def _channels(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


def _mix(one: str, other: str, share: float) -> str:
    mixed = (round(a + share * (b - a)) for a, b in zip(_channels(one), _channels(other)))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def _luminance(colour: str) -> float:
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in (channel / 255 for channel in _channels(colour))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
