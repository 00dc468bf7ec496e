"""Typed settings: one frozen model per component, an unknown key names the nearest valid one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from sparserec.errors import SettingError


@dataclass(frozen=True)
class Between:
    """What a search tries of a setting, written beside it: `Annotated[float, Between(0.01, 1.0, log=True)]`."""

    low: float
    high: float
    log: bool = False
    """Whether ratios count, as for learning rates."""

    def around(self, value: Any) -> Between | None:
        """The range where the setting has this value now; None where it is not in use."""
        return self


@dataclass(frozen=True)
class Times(Between):
    """The same as multiples of the value that a setting has now, for those whose default depends on base or data."""

    log: bool = True

    def around(self, value: Any) -> Between | None:
        return Between(self.low * value, self.high * value, self.log) if value else None


class Settings(BaseModel):
    """Base of all component settings; subclasses sit beside the component they configure."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    @classmethod
    def parse(cls, values: dict[str, Any], where: str = "settings") -> Self:
        """Like model_validate, but a mistake becomes a SettingError that says what to write instead."""
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise SettingError(
                "\n".join(_explain(cls, problem, where) for problem in error.errors())
            ) from None

    @classmethod
    def search_ranges(cls) -> dict[str, Between]:
        """What a search tries, by the name of the setting."""
        return {
            name: one
            for name, field in cls.model_fields.items()
            for one in field.metadata
            if isinstance(one, Between)
        }

    @classmethod
    def group_of(cls, name: str) -> str | None:
        """The group of settings that has a setting of this name, where these settings have none."""
        return next((group for group in cls.model_fields if name in _fields(cls, group)), None)


def _fields(model: type[BaseModel], group: str) -> Iterable[str]:
    kind = model.model_fields[group].annotation
    return kind.model_fields if isinstance(kind, type) and issubclass(kind, BaseModel) else ()


def _explain(model: type[BaseModel], problem: Any, where: str) -> str:
    path = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        return f"{where}: unknown setting {path!r}; {_hint(_model_at(model, problem['loc'][:-1]), problem)}"
    return f"{where}: {path}: {problem['msg']} (got {problem.get('input')!r})"


def _hint(model: type[BaseModel], problem: Any) -> str:
    """What an unknown name may have been meant for."""
    name, known = str(problem["loc"][-1]), list(model.model_fields)
    group = next((one for one in known if name in _fields(model, one)), None)
    if group is not None:
        return f"it is one of {group!r}: write `{group}.{name}={problem.get('input')}`"
    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(known))}"


def _model_at(model: type[BaseModel], path: tuple[Any, ...]) -> type[BaseModel]:
    """The settings a path of field names leads to, so that a hint names keys of the right group."""
    for name in path:
        field = model.model_fields.get(str(name))
        if field is None or not (
            isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
        ):
            break
        model = field.annotation
    return model


# Methods, bases, encodings and formats of other packages: by an entry point, or by `package.module:Class`.
#
# A package that brings a method names it in its pyproject.toml, and every command knows it:
#
#     [project.entry-points."sparserec.methods"]
#     tickets = "their_package.tickets:Tickets"

Group = Literal["methods", "bases", "encodings", "formats"]
WHAT: dict[Group, tuple[str, str, str]] = {
    "methods": ("method", "settings_kind", "it names the class of its settings"),
    "bases": ("base recommender", "settings_kind", "it names the class of its settings"),
    "encodings": ("encoding", "candidates", "inherit from VectorKind"),
    "formats": ("format", "read", "it makes a table of a file"),
}
"""What it is called, what a class of it must have, and why."""


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
            f"unknown {WHAT[group][0]} {name!r}; known: {', '.join([*known, *others])}, or package.module:Class"
        )
    return _load(name, others[name].value if name in others else name, group)


def _load(name: str, where: str, group: Group) -> type:
    """Import a class; whatever goes wrong is said of the name as it was typed."""
    module, _, attribute = where.partition(":")
    what, needed, why = WHAT[group]
    given = f"{what} {name!r}"
    if not all(part.isidentifier() for part in (*module.split("."), attribute)):
        raise SettingError(f"{given}: write it as package.module:Class")
    try:
        found = getattr(import_module(module), attribute, None)
    except ImportError as error:
        raise SettingError(
            f"{given}: {error}; install the package that brings it, or put its folder on PYTHONPATH"
        ) from error
    if not isinstance(found, type):
        raise SettingError(f"{given}: {module} has no class {attribute}")
    if getattr(found, needed, None) is None:
        raise SettingError(f"{given}: class {attribute} has no `{needed}`; {why}")
    return found


def missing_members(instance: object, protocol: type) -> list[str]:
    """What an object lacks of a protocol, by name."""
    wanted = {*protocol.__annotations__, *(name for name in vars(protocol) if name[0] != "_")}
    return sorted(name for name in wanted if not (hasattr(type(instance), name) or hasattr(instance, name)))
