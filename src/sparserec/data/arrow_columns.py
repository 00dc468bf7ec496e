"""From Arrow tables of any column types to id columns, ratings, times and weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sparserec.data.columns import Columns
from sparserec.data.errors import BadValueError, EmptyDataError, IdRangeError

Locate = Callable[[int], str]
"""Says where row number n (from 0) is, for error messages."""


def table_columns(
    table: Any, roles: dict[str, str], where: str, locate: Locate, rated: bool, untyped: bool = False
) -> Columns:
    """Columns of a table; ratings are parsed only when `rated`.

    `untyped` tables are all text: ids that are all spelled as whole numbers become numbers.
    """
    if table.num_rows == 0:
        raise EmptyDataError(f"{where}: there are no rows")
    users, items = (_ids(table.column(roles[role]), roles[role], where, untyped) for role in ("user", "item"))
    needed = [role for role in ("time", "rating", "weight") if role in roles and (rated or role != "rating")]
    numbers = {role: _numbers(table.column(roles[role]), roles[role], locate) for role in needed}
    if "weight" in numbers:
        check_weights(numbers["weight"], roles["weight"], locate)
    whole = Columns(
        users, items, numbers.get("rating"), numbers.get("time"), where, weights=numbers.get("weight")
    )
    present = pc.and_(_present(users), _present(items)).to_numpy(zero_copy_only=False)
    return whole.select(present, "missing user or item id")


def check_weights(weights: np.ndarray, name: str, locate: Locate) -> None:
    """Refuse weights below 0: a dislike is no interaction."""
    if (weights < 0).any():
        row = int(np.argmax(weights < 0))
        raise BadValueError(
            f"{locate(row)}: column {name!r} has the weight {weights[row]:g}; weights are above 0, and rows that count "
            "against an item are left out"
        )


def _present(column: Any) -> Any:
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    valid = column.is_valid()
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return valid
    return pc.and_(valid, pc.fill_null(pc.not_equal(column, pa.scalar("", column.type)), False))


def _ids(column: Any, name: str, where: str, untyped: bool) -> Any:
    """An id column as int64 or text."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _as_numbers_if_spelled_so(column) if untyped else column
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid:
            where = f"{where}: column {name!r} has ids"
            if pa.types.is_integer(kind):
                raise IdRangeError(f"{where} beyond 64 bits; store them as text") from None
            raise BadValueError(f"{where} with fractions; is it really an id column?") from None
    if str(kind) == "string_view":
        return column.cast(pa.large_string())
    raise BadValueError(
        f"{where}: column {name!r} of type {kind} cannot be an id; make it text or whole numbers"
    )


def _as_numbers_if_spelled_so(column: Any) -> Any:
    """int64 when every text is a whole number in its usual spelling ("7", not "07"): smaller, and the same hash."""
    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.chunk(0) if encoded.num_chunks else pa.array([], pa.string()).dictionary_encode()
    texts = pc.utf8_trim_whitespace(encoded.dictionary)
    filled = pc.if_else(pc.equal(texts, ""), pa.scalar(None, texts.type), texts)
    try:
        numbers = filled.cast(pa.int64())
    except pa.ArrowInvalid:
        return texts.take(encoded.indices)
    spelled_so = numbers.cast(texts.type).equals(filled)
    return (numbers if spelled_so else texts).take(encoded.indices)


def _numbers(column: Any, name: str, locate: Locate) -> np.ndarray:
    """A rating or time column as finite int64 or float64; dates become seconds since 1970."""
    kind = column.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        converted = _seconds(column, name, locate)
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        converted = _parsed(column, name, locate)
    elif pa.types.is_integer(kind) and column.null_count == 0:
        return column.cast(pa.int64()).to_numpy()
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        converted = column.cast(pa.float64())
    else:
        raise BadValueError(f"{locate(0)}: column {name!r} of type {kind} has no numbers or times")
    values = converted.to_numpy()
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        bad = int(np.flatnonzero(~np.isfinite(values))[0])
        raise _bad(locate(bad), name, column[bad].as_py())
    return values


def _parsed(column: Any, name: str, locate: Locate) -> Any:
    column = pc.utf8_trim_whitespace(column)
    for kind in (pa.int64(), pa.float64(), pa.timestamp("us"), pa.timestamp("us", "UTC")):
        try:
            converted = column.cast(kind)
        except pa.ArrowInvalid:
            continue
        return _seconds(converted, name, locate) if pa.types.is_timestamp(kind) else converted
    raise _first_unparsable(column, name, locate)


def _seconds(column: Any, name: str, locate: Locate) -> Any:
    """Seconds since 1970 to the microsecond: what a nanosecond adds is cut off, as float64 would do."""
    kind = column.type
    finer = pa.types.is_timestamp(kind) and kind.unit == "ns"
    try:
        exact = column.cast(pa.timestamp("us", getattr(kind, "tz", None)), safe=not finer)
    except pa.ArrowInvalid:
        raise BadValueError(f"{locate(0)}: column {name!r} has times beyond the year 290,000") from None
    return pc.divide(pc.cast(exact, pa.int64()).cast(pa.float64()), 1e6)


def _first_unparsable(column: Any, name: str, locate: Locate) -> BadValueError:
    """The first value that is not of the kind of the first one. Slow, for the error message only."""
    values = column.to_pylist()
    kind = next(
        (k for k in (pa.float64(), pa.timestamp("us", "UTC"), pa.timestamp("us")) if _fits(values[0], k)),
        None,
    )
    row = next((row for row, value in enumerate(values) if kind is None or not _fits(value, kind)), 0)
    return _bad(locate(row), name, values[row])


def _fits(value: Any, kind: Any) -> bool:
    try:
        pa.scalar(value, pa.string()).cast(kind)
    except pa.ArrowInvalid:
        return False
    return True


def _bad(where: str, name: str, value: Any) -> BadValueError:
    problem = f"column {name!r} has {value!r}, which is no number or time"
    return BadValueError(f"{where}: {problem}; fix it or ignore the column")
