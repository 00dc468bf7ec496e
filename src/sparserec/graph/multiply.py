"""Sparse matrix times a block of columns: sixteen columns at a time are held in registers while a row's edges go by.

numba has no vectors of its own and cannot fetch memory ahead, so the sum over a row is written in the compiler's
instructions. These are the same on every machine: a processor with shorter registers takes several.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import prange, types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from sparserec.compiled import compiled

AHEAD = 32
"""How many edges ahead a neighbour's row is fetched: rows lie scattered, and waiting for them is most of the time."""


TASKS = 64
"""Pieces of about as many edges each that threads share."""


class Matrix:
    """A fixed sparse matrix in CSR arrays, or some of its rows in the order asked for."""

    def __init__(
        self,
        offsets: np.ndarray,  # int32 (rows + 1,)
        neighbours: np.ndarray,  # int32 (non-zeros,)
        weights: np.ndarray,  # (non-zeros,), of the blocks' type
        rows: np.ndarray | None = None,  # int32
    ) -> None:
        self._starts, self._ends = offsets[:-1], offsets[1:]
        if rows is not None:
            self._starts, self._ends = self._starts[rows], self._ends[rows]
        self._neighbours, self._weights = neighbours, weights
        edges = np.cumsum(self._ends - self._starts, dtype=np.int64)
        shares = np.arange(1, TASKS) * (edges[-1] / TASKS if len(edges) else 0.0)
        self._tasks = np.concatenate([[0], np.searchsorted(edges, shares), [len(edges)]])

    def multiply(self, block: np.ndarray, out: np.ndarray) -> None:
        """out = matrix @ block, both contiguous. A row is summed in the order of its edges, whoever computes it."""
        _multiply(self._tasks, self._starts, self._ends, self._neighbours, self._weights, block, out)


@compiled(parallel=True)
def _multiply(
    tasks: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    neighbours: np.ndarray,
    weights: np.ndarray,
    block: np.ndarray,
    out: np.ndarray,
) -> None:
    for task in prange(len(tasks) - 1):
        for row in range(tasks[task], tasks[task + 1]):
            _multiply_row(starts[row], ends[row], neighbours, weights, block, out, row)


@compiled(inline="always")
def _multiply_row(first, stop, neighbours, weights, block, out, row):  # type: ignore[no-untyped-def]
    width = block.shape[1]
    wide, narrow = width - width % 16, width - width % 4
    for column in range(0, wide, 16):  # 16 float32 are a cache line
        _sum_edges(first, stop, neighbours, weights, block, out, row, column, 16)
    for column in range(wide, narrow, 4):
        _sum_edges(first, stop, neighbours, weights, block, out, row, column, 4)
    for column in range(narrow, width):
        _sum_edges(first, stop, neighbours, weights, block, out, row, column, 1)


def _typed_sum(  # type: ignore[no-untyped-def]
    typing, first, stop, neighbours, weights, block, out, row, column, lanes
):
    """out[row, column : column + lanes] = sum of weights[edge] * block[neighbours[edge]] there, over a row's edges."""
    arrays = (neighbours, weights, block, out)
    if any(one.layout != "C" for one in arrays) or not weights.dtype == block.dtype == out.dtype:
        raise TypingError(
            "multiply reads and writes memory as it lies: contiguous arrays, numbers of one type"
        )
    return types.void(first, stop, neighbours, weights, block, out, row, column, lanes), _write_sum


def _write_sum(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
    index = context.get_value_type(types.intp)
    first, stop, row, column = (
        context.cast(builder, arguments[n], signature.args[n], types.intp) for n in (0, 1, 6, 7)
    )
    neighbours, weights, block, out = (
        context.make_array(signature.args[n])(context, builder, arguments[n]) for n in (2, 3, 4, 5)
    )
    entries = builder.extract_value(neighbours.shape, 0)
    width = builder.extract_value(block.shape, 1)
    number = context.get_data_type(signature.args[4].dtype)
    lanes, alignment = signature.args[8].literal_value, context.get_abi_sizeof(number)
    vector = ir.VectorType(number, lanes)
    fetch = _prefetch(builder)

    def neighbour_at(edge: Any) -> Any:
        return builder.zext(builder.load(builder.gep(neighbours.data, [edge])), index)

    def place(array: Any, line: Any, kind: Any) -> Any:
        start = builder.gep(array.data, [builder.add(builder.mul(line, width), column)])
        return builder.bitcast(start, kind.as_pointer())

    total = cgutils.alloca_once(builder, vector)
    builder.store(ir.Constant(vector, [0.0] * lanes), total)
    with cgutils.for_range(builder, stop, first) as loop:
        ahead = builder.add(loop.index, index(AHEAD))
        ahead = builder.select(builder.icmp_signed("<", ahead, entries), ahead, loop.index)
        fetch(place(block, neighbour_at(ahead), ir.IntType(8)))
        weight = _spread(builder, builder.load(builder.gep(weights.data, [loop.index])), vector)
        values = builder.load(place(block, neighbour_at(loop.index), vector), align=alignment)
        product = builder.fmul(weight, values, flags=("contract",))
        builder.store(builder.fadd(builder.load(total), product, flags=("contract",)), total)
    builder.store(builder.load(total), place(out, row, vector), align=alignment)
    return context.get_dummy_value()


_sum_edges: Any = intrinsic(prefer_literal=True)(_typed_sum)


def _spread(builder: Any, value: Any, vector: Any) -> Any:
    """The value in every lane."""
    nothing, lane = ir.Constant(vector, ir.Undefined), ir.IntType(32)
    one = builder.insert_element(nothing, value, lane(0))
    return builder.shuffle_vector(
        one, nothing, ir.Constant(ir.VectorType(lane, vector.count), [0] * vector.count)
    )


def _prefetch(builder: Any) -> Any:
    """A function that writes the instruction to fetch an address for reading, into every cache."""
    address, whole = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [address, whole, whole, whole])
    declared = builder.module.declare_intrinsic("llvm.prefetch", [address], kind)
    return lambda where: builder.call(declared, [where, whole(0), whole(3), whole(1)])
