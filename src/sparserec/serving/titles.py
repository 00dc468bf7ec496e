"""Items by what people call them: a part of a title, written as they remember it, or a tag."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from sparserec.serving.questions import QuestionError

if TYPE_CHECKING:
    from sparserec.data import ItemInfo

_ARTICLE_LAST = re.compile(r"^(.+), (the|an?)\b(.*)$")


def matching_titles(wanted: str, titles: Iterable[str]) -> list[int]:
    """Places of the titles that are `wanted`, or else of those in which its words stand next to each other.

    The shortest come first: they hold the least that was not asked for. Capital letters and signs make no difference,
    and "Birds, The" is the same as "The Birds". The last word may be the beginning of one.
    """
    words = _words(wanted)
    if not words.strip():
        return []
    plain = [_words(title) for title in titles]
    same = [place for place, title in enumerate(plain) if title == words]
    found = same or [place for place, title in enumerate(plain) if words.rstrip() in title]
    return sorted(found, key=lambda place: (len(plain[place]), plain[place]))


def items_with(tags: list[str], info: ItemInfo | None) -> np.ndarray:
    """Marks the items that have at least one of the tags."""
    of_items = None if info is None else info.tags
    if of_items is None:
        raise QuestionError("tags: items of this model have none; give a table with tags as `metadata`")
    known = {tag for one in of_items for tag in one}
    for tag in tags:
        if tag not in known:
            near = difflib.get_close_matches(tag, sorted(known), n=3)
            raise QuestionError(f"no tag {tag!r} in this model; nearest: {', '.join(near) or 'none'}")
    return np.array([not set(tags).isdisjoint(one) for one in of_items], bool)


def _words(text: str) -> str:
    """The words of a text, a space before and after each."""
    moved = _ARTICLE_LAST.sub(r"\2 \1\3", text.casefold().strip())
    return " " + "".join(f"{word} " for word in re.findall(r"\w+", moved))
