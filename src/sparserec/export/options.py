"""What the caller of an export asks for, and what is refused before anything is computed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from sparserec.encodings import Encoding
from sparserec.errors import SettingError
from sparserec.export.choose import LIST_USERS
from sparserec.runs import Trained

Mode = Literal["items", "full", "personal"]


@dataclass(frozen=True)
class ExportOptions:
    """What the caller asked for."""

    mode: Mode = "items"
    budget: int | None = None
    """Largest file in bytes."""
    encoding: Encoding | None = None
    """None chooses on validation: the smallest file surely within 1 % of the best that fits in the budget, of the float
    vectors where there is no budget.
    """
    bits: int | None = None
    """Of the layer-0 table in mode full; None chooses as above."""
    learn: bool = True
    """Whether codes may be learnt for a budget, with base history's loss."""
    min_users: int = LIST_USERS
    """Items with fewer users are left out of the file: the vector of an item that one person has tells what else that
    person has, to who adds popularity to its scores (tests/export/test_private.py)."""
    list_users: int = LIST_USERS
    """Of files that hold lists of items: an entry of a co-occurrence list stands only where so many people have both
    items, and items with fewer users are in no list of any kind.
    """
    term: bool = False
    """Try whether preferring popular items is better on validation. Not by itself: files of base history gain nothing,
    and a popular and similar item is more likely one that the few users of a rare item have (docs/log.md)."""
    titles: bool = True
    """Whether titles and tags go into the file."""
    include_everyones_history: bool = False
    """Mode full holds every user's interactions; it is refused unless this is set."""
    user: Any = None
    """Whose vector a personal file holds."""
    seconds: float | None = None
    """Time for trying encodings for a budget; what is measured by then is chosen from. None: all are tried."""


def check_options(run: Trained, path: Path, options: ExportOptions) -> None:
    """Refuse what cannot or must not be written before anything is computed."""
    if path.is_dir():
        raise SettingError(f"{path}: is a folder; name the file to write, for example {path / 'model.srec'}")
    if not path.absolute().parent.is_dir():
        raise SettingError(f"{path}: there is no folder {path.parent}; make it first")
    _check_mode(options)
    if options.mode == "full" and not options.include_everyones_history:
        raise SettingError(
            "mode full puts the interaction history of every user into the file, and anyone who has the file can "
            "read it; if that is what you want, say so with `include_everyones_history`. Mode items holds no "
            "interaction list"
        )
    if options.mode == "full" and not run.recommender.user_rows:
        raise SettingError(
            f"mode full holds the rows of users, and {run.config.base} has none: mode items serves every user exactly"
        )
    if options.encoding is not None:
        options.encoding.check(run.table.shape.dim)
        if options.encoding.learnt and run.recommender.self_loops:
            raise SettingError(
                f"encoding {options.encoding.label}: codes are learnt for users who are a sum over their items, and "
                f"this run's {run.config.base} has self-loops"
            )
    if options.min_users < 0:
        raise SettingError(f"`min_users` {options.min_users}: must not be negative")
    if options.list_users < 1:
        raise SettingError(f"`list_users` {options.list_users}: must be at least 1")


def _check_mode(options: ExportOptions) -> None:
    """A mode there is, and nothing asked for that it would not heed."""
    mode, modes = options.mode, get_args(Mode)
    if mode not in modes:
        raise SettingError(f"mode {mode!r}: must be one of {', '.join(modes)}")
    if mode == "personal" and options.user is None:
        raise SettingError("mode personal needs a `user`: whose vector the file is to hold")
    if mode != "personal" and options.user is not None:
        raise SettingError(
            f"`user` is for mode personal; a file of mode {mode} holds nobody's vector by itself"
        )
    if mode != "full":
        if options.bits is not None and options.encoding is None:
            raise SettingError(
                f"`bits` is for mode full; in mode {mode} write encoding={{'kind': 'int', 'bits': {options.bits}}}"
            )
        return
    if options.bits not in (None, 4, 8):
        raise SettingError(f"`bits` {options.bits}: the table of mode full has 4 or 8")
    unheeded = {
        "encoding": options.encoding is not None,
        "term": options.term,
        "min_users": options.min_users > LIST_USERS,
    }
    for name in (name for name, asked in unheeded.items() if asked):
        raise SettingError(
            f"`{name}` is not for mode full, which holds the table and the history of everybody"
        )
