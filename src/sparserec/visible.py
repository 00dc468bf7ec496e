"""Text of somebody else's file or log, made safe to print: what would steer a terminal, break a line or cannot be
written at all is shown as an escape.
"""

from __future__ import annotations

import re

UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # control characters: escape sequences begin with one of these
    "\u2028\u2029"  # ends of lines that are none
    "\u202a-\u202e\u2066-\u2069"  # the order in which what follows is shown
    "\ud800-\udfff]"  # halves of pairs, which no encoding holds
)


def visible(text: str, lines: bool = False) -> str:
    r"""The text with such characters as escapes; with `lines` it may have several lines.

    >>> visible("\x1b[2Jtitle\n")
    '\\x1b[2Jtitle\\n'
    """
    return UNSAFE.sub(lambda found: _shown(found[0], lines), text)


def _shown(sign: str, lines: bool) -> str:
    return sign if lines and sign == "\n" else sign.encode("unicode_escape").decode("ascii")
