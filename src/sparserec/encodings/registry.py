"""All kinds of encodings by name, in the order in which they are tried for a budget."""

from __future__ import annotations

from sparserec.device import READERS
from sparserec.encodings.base import Kind, stored_name
from sparserec.encodings.codes import CodesKind
from sparserec.encodings.cooccurrence import CooccurrenceKind
from sparserec.encodings.ease import EaseKind
from sparserec.encodings.gaps import GapsKind
from sparserec.encodings.int import IntKind
from sparserec.encodings.neighbours import NeighboursKind
from sparserec.encodings.prefix import PrefixKind
from sparserec.settings import find_kind, plugins

ENCODINGS: dict[str, type[Kind]] = {
    "gaps": GapsKind,
    "together": CooccurrenceKind,
    "ease": EaseKind,
    "int": IntKind,
    "codes": CodesKind,
    "prefix": PrefixKind,
    "neighbours": NeighboursKind,
}


def find_encoding(name: str) -> Kind:
    """The kind of this name: one of ours, of an installed package, or package.module:Class."""
    kind = find_kind(stored_name(name), ENCODINGS, "encodings")
    if kind.tensor:
        READERS.setdefault(kind.tensor, kind.read)
    return kind()


def all_encodings() -> dict[str, Kind]:
    """Ours, and those that installed packages bring."""
    return {name: find_encoding(name) for name in (*ENCODINGS, *plugins("encodings"))}


def learnable() -> list[str]:
    """Names of the kinds whose codes can be learnt."""
    return [name for name, kind in ENCODINGS.items() if kind.steps]
