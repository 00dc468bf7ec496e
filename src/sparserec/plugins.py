"""Methods, bases, encodings and formats of other packages: by an entry point, or by `package.module:Class`.

A package that brings a method names it in its pyproject.toml, and every command knows it:

    [project.entry-points."sparserec.methods"]
    tickets = "their_package.tickets:Tickets"
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal

from sparserec.errors import SettingError

Group = Literal["methods", "bases", "encodings", "formats"]
WHAT: dict[Group, str] = {
    "methods": "method",
    "bases": "base recommender",
    "encodings": "encoding",
    "formats": "format",
}
NEEDED: dict[Group, tuple[str, str]] = {
    "methods": ("settings_kind", "it names the class of its settings"),
    "bases": ("settings_kind", "it names the class of its settings"),
    "encodings": ("candidates", "inherit from VectorKind"),
    "formats": ("read", "it makes a table of a file"),
}
"""What a class must have, and why."""


def plugins(group: Group) -> dict[str, EntryPoint]:
    """What installed packages bring, by name; nothing of it is loaded."""
    return {one.name: one for one in entry_points(group=f"sparserec.{group}")}


def find_kind(name: str, known: Mapping[str, type], group: Group) -> Any:
    """The class of this name: one of `known`, of an installed package, or `package.module:Class`."""
    if name in known:
        return known[name]
    others = plugins(group)
    if name not in others and ":" not in name:
        raise SettingError(
            f"unknown {WHAT[group]} {name!r}; known: {', '.join([*known, *others])}, or package.module:Class"
        )
    return _load(name, others[name].value if name in others else name, group)


def _load(name: str, where: str, group: Group) -> type:
    """Import a class; whatever goes wrong is said of the name that was given."""
    module, _, attribute = where.partition(":")
    asked = f"{WHAT[group]} {name!r}"
    if not all(part.isidentifier() for part in (*module.split("."), attribute)):
        raise SettingError(f"{asked}: write it as package.module:Class")
    try:
        found = getattr(import_module(module), attribute, None)
    except ImportError as error:
        raise SettingError(
            f"{asked}: {error}; install the package that brings it, or put its folder on PYTHONPATH"
        ) from error
    if not isinstance(found, type):
        raise SettingError(f"{asked}: {module} has no class {attribute}")
    needed, why = NEEDED[group]
    if getattr(found, needed, None) is None:
        raise SettingError(f"{asked}: class {attribute} has no `{needed}`; {why}")
    return found


def missing_members(made: object, protocol: type) -> list[str]:
    """What an object lacks of a protocol, by name."""
    wanted = {*protocol.__annotations__, *(name for name in vars(protocol) if name[0] != "_")}
    return sorted(name for name in wanted if not hasattr(made, name))
