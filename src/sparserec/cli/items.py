"""Items as people type them: by id, or by a part of the title."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from sparserec.cli.typed import id_list

if TYPE_CHECKING:
    from sparserec.serving import AnyModel, NamedItem

MOST_SHOWN = 12


def typed_items(model: AnyModel, texts: list[str] | None, option: str, may_ask: bool) -> list[str] | None:
    """Ids of everything that was typed, in order; None where the option was not given.

    What names an item as it stands is that item, though it may hold a comma: otherwise commas separate.
    """
    if texts is None:
        return None
    names: list[str] = []
    for text in texts:
        whole = not text.startswith(("@", "[")) and "," in text and bool(model.find(text))
        names += [text] if whole else id_list(text, option) or []
    return [typed_item(model, name, may_ask) for name in names]


def typed_item(model: AnyModel, name: str, may_ask: bool) -> str:
    """The id of the item that was meant; a name that no item has is left for the model to speak about."""
    from sparserec.serving import QuestionError, name_of

    found = model.find(name)
    if not found:
        return name
    if len(found) == 1:
        return str(found[0].id)
    lines = [f"  {number:2d}  {name_of(item)}" for number, item in enumerate(found[:MOST_SHOWN], 1)]
    if len(found) > MOST_SHOWN:
        lines.append(f"      and {len(found) - MOST_SHOWN:,} more: say more of the title")
    listed = "\n".join([f"{len(found):,} titles fit {name!r}:", *lines])
    if not may_ask:
        raise QuestionError(f"{listed}\ngive the id, which stands behind the title, or the whole title")
    return str(_chosen(found[:MOST_SHOWN], listed).id)


def on_a_terminal() -> bool:
    """Whether somebody is there to be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _chosen(found: list[NamedItem], listed: str) -> NamedItem:
    print(listed, file=sys.stderr)
    number = ""
    while number not in [str(one) for one in range(1, len(found) + 1)]:
        print(f"which one, 1 to {len(found)}: ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:  # whoever was asked has gone
            raise KeyboardInterrupt
        number = line.strip()
    return found[int(number) - 1]
