"""What kind of model a file says it is: the fields of `__metadata__.model`, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .container import is_count, parse_json
from .errors import BadMetadata
from .fold_in import SIZE_POWERS
from .ids import KINDS, SAFE_INTEGER

MODES = ("items", "full", "personal", "neighbours")
MOST_NODES = 1 << 24


@dataclass(frozen=True)
class Profile:
    """Mode and sizes of a model."""

    mode: str
    base: str
    items: int
    users: int
    dim: int
    self_loops: bool
    fold_tables: int
    item_ids: str
    user_ids: str | None = None
    user_id: str | int | None = None
    size_power: float | None = None  # None: the fold-in weights are those of the degrees, as in 1.0


def read_object(metadata: dict[str, str], key: str) -> dict[str, Any]:
    """A JSON object kept as text in the metadata."""
    try:
        value = parse_json(metadata[key])
    except KeyError:
        raise BadMetadata(f"__metadata__.{key} is missing") from None
    except (ValueError, RecursionError) as error:
        raise BadMetadata(f"__metadata__.{key}: {error}") from None
    if not isinstance(value, dict):
        raise BadMetadata(f"__metadata__.{key} is not an object")
    return value


def read_profile(metadata: dict[str, str]) -> Profile:
    """Check field by field, in the order of docs/format.md."""
    raw = read_object(metadata, "model")
    mode = _one_of(raw, "mode", MODES)
    full = mode == "full"
    items = _count(raw, "items", 1, MOST_NODES - 1)
    users = _count(raw, "users", 1 if full else 0, MOST_NODES - 1)
    dim = _count(raw, "dim", 1, 65536)
    self_loops = raw.get("self_loops")
    if not isinstance(self_loops, bool):
        raise BadMetadata("model.self_loops is not true or false")
    alone = mode in ("full", "neighbours")  # one table makes users and scores
    fold_tables = _count(raw, "fold_tables", 0, 0 if alone else 64 if self_loops else 1)
    item_ids = _one_of(raw, "item_ids", KINDS)
    user_ids = _one_of(raw, "user_ids", KINDS) if full else None
    if not isinstance(raw.get("base"), str):
        raise BadMetadata("model.base is not text")
    user_id = _user_id(raw) if mode == "personal" else None
    weighted = "fold_in" in raw or mode == "neighbours"
    size_power = _size_power(raw.get("fold_in"), allowed=not full and not self_loops) if weighted else None
    return Profile(
        mode, raw["base"], items, users, dim, self_loops, fold_tables, item_ids, user_ids, user_id, size_power
    )


def _one_of(raw: dict[str, Any], key: str, options: tuple[str, ...]) -> str:
    value = raw.get(key)
    if not isinstance(value, str) or value not in options:
        raise BadMetadata(f"model.{key} is {value!r}, expected one of {', '.join(options)}")
    return value


def _count(raw: dict[str, Any], key: str, least: int, most: int) -> int:
    value: Any = raw.get(key)
    if not is_count(value) or not least <= value <= most:
        raise BadMetadata(f"model.{key} is {value!r}, expected {least} to {most}")
    return value


def _size_power(fold_in: Any, allowed: bool) -> float:
    power = fold_in.get("size_power") if isinstance(fold_in, dict) else None
    if not allowed or isinstance(power, bool) or power not in SIZE_POWERS:
        raise BadMetadata(
            f"model.fold_in is {fold_in!r}, expected a size_power of 0, .5 or 1, in modes other than full "
            "without self-loops"
        )
    return float(power)


def _user_id(raw: dict[str, Any]) -> str | int | None:
    value = raw.get("user_id")
    integer = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= SAFE_INTEGER
    if value is not None and not integer and not isinstance(value, str):
        raise BadMetadata("model.user_id is neither text nor an integer")
    return value
