"""Data that is already in Python: data frames, Arrow tables, scipy matrices, arrays and lists of pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from sparserec.data.columns import Columns
from sparserec.data.errors import (
    BadValueError,
    EmptyDataError,
    MalformedLineError,
    MissingColumnError,
    UnknownFormatError,
)
from sparserec.data.sniff import choose_columns, positions

VALUE = "value"
"""What the values of a matrix are called where columns are named."""


def frame_columns(
    frame: Any, wanted: dict[str, str | None], where: str, rated: bool
) -> tuple[Columns, str, dict[str, str]]:
    """Columns of a Python object, what it is, and the column of each role."""
    if hasattr(frame, "tocoo") and hasattr(frame, "shape"):
        roles = _matrix_roles(frame, wanted.get("weight"), where)
        return _matrix(frame, where, "weight" in roles), "scipy sparse matrix", roles
    kind, table = as_table(frame, where)
    if table is None:
        table = _pairs_table(frame, where)
        guessed: dict[str, str | None] = {
            "rating": "",
            "time": "",
            **positions(table.column_names, _late_third(table)),
            "weight": wanted.get("weight"),
        }
        roles = choose_columns(table.column_names, guessed, where)
        kind = "pairs"
    else:
        roles = choose_columns(table.column_names, wanted, where, _late_third(table))
    from sparserec.data.arrow_columns import table_columns

    return table_columns(table, roles, where, lambda row: f"{where}: row {row}", rated), kind, roles


def _matrix(matrix: Any, where: str, weighed: bool) -> Columns:
    """Rows are users, columns items; ids are their positions, stored zeros are no interactions."""
    from sparserec.data.arrow_columns import check_weights

    entries = matrix.tocoo()
    if entries.nnz == 0:
        raise EmptyDataError(f"{where}: the matrix has no entries")
    values = np.asarray(entries.data, dtype=np.float64)
    if not np.isfinite(values).all():
        raise BadValueError(f"{where}: the matrix has values that are not finite")
    if weighed:
        check_weights(values, VALUE, lambda at: f"{where}: row {entries.row[at]}, column {entries.col[at]}")
    ids, weights = (entries.row.astype(np.int64), entries.col.astype(np.int64)), values if weighed else None
    return Columns(*ids, values, where=where, weights=weights).select(values != 0, "stored zero")


def _matrix_roles(matrix: Any, weight: str | None, where: str) -> dict[str, str]:
    """Values that say more than "observed" are named, so that the report can say what becomes of them."""
    roles = {"user": "row", "item": "column"}
    if weight:
        if weight != VALUE:
            raise MissingColumnError(
                f"{where}: a matrix has no column {weight!r}; weight_col={VALUE!r} takes its values"
            )
        return {**roles, "weight": VALUE}
    return roles if (matrix.tocoo().data == 1).all() else {**roles, "rating": VALUE}


def as_table(frame: Any, where: str) -> tuple[str, Any]:
    """An Arrow table of a data frame of any library, or None."""
    import pyarrow as pa

    try:
        if isinstance(frame, pa.Table):
            return "Arrow table", frame
        if isinstance(frame, pa.RecordBatch):
            return "Arrow table", pa.Table.from_batches([frame])
        if isinstance(frame, Mapping):
            return "columns", _columns_table(frame, where)
        import narwhals as nw

        native = nw.from_native(frame, pass_through=True)
        if isinstance(native, nw.LazyFrame):
            native = native.collect()
        if isinstance(native, nw.DataFrame):
            return f"{type(frame).__module__.split('.')[0]} data frame", native.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise BadValueError(f"{where}: a column has values of mixed or unsupported type ({error})") from None
    return "", None


def _columns_table(columns: Mapping[Any, Any], where: str) -> Any:
    """A table of columns by name; users with their items, a usual mistake, are told how to become pairs."""
    import pyarrow as pa

    lengths = {len(column) if hasattr(column, "__len__") else -1 for column in columns.values()}
    if len(lengths) != 1 or lengths == {-1}:
        raise UnknownFormatError(
            f"{where}: a dict holds columns of one length by name, such as {{'user': [..], 'item': [..]}}; one with "
            "the items of each user becomes pairs: [(user, item) for user, items in data.items() for item in items]"
        )
    return pa.table({str(name): column for name, column in columns.items()})


def _pairs_table(pairs: Any, where: str) -> Any:
    """An iterable of (user, item[, rating[, time]]) as a table with columns "1", "2", ..."""
    import pyarrow as pa

    if isinstance(pairs, np.ndarray) and pairs.ndim == 2:
        if pairs.shape[1] > 4:
            raise UnknownFormatError(
                f"{where}: an array of {pairs.shape[1]} columns; pairs have two to four (user, item, rating, time), "
                "and a matrix of users and items is given as scipy.sparse.csr_matrix(array)"
            )
        columns: list[Any] = [pairs[:, position] for position in range(pairs.shape[1])]
    elif isinstance(pairs, Iterable) and not isinstance(pairs, (str, bytes)):
        rows = list(pairs)
        _check_rows(rows, where)
        columns = list(zip(*rows))
    else:
        raise UnknownFormatError(
            f"{where}: cannot read interactions from {type(pairs).__name__}; give a path, a data frame, an Arrow "
            "table, a scipy matrix or pairs"
        )
    if len(columns) < 2 or len(columns[0]) == 0:
        raise EmptyDataError(f"{where}: no (user, item) pairs")
    try:
        return pa.table({str(position + 1): pa.array(column) for position, column in enumerate(columns)})
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise BadValueError(f"{where}: a column has values of mixed or unsupported type ({error})") from None


def _check_rows(rows: list[Any], where: str) -> None:
    for number, row in enumerate(rows):
        listed = isinstance(row, (tuple, list, np.ndarray))
        if not listed or not 2 <= len(row) <= 4 or len(row) != len(rows[0]):
            raise MalformedLineError(
                f"{where}: row {number} is {row!r}; expected (user, item[, rating[, time]])"
            )


def _late_third(table: Any) -> bool:
    first = table.column(2)[0].as_py() if table.num_columns == 3 and table.num_rows else None
    return isinstance(first, (int, float)) and first >= 1e8
