"""Tables that several processes hold: the only file beside distributed.py that knows of them.

Each process holds some parts of a table: a stretch of its column blocks or, of a table of items alone, of its chunks of
rows. The state of one part does not depend on which others its process holds, so a training may go on with more
processes or fewer.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sparserec.distributed import ALONE, Processes
from sparserec.errors import SettingError
from sparserec.table.base import CHUNKS, Shape, State

ROWS_AT_ONCE = 1 << 16


@dataclass
class Shards(Shape):
    """A shape of which this process holds some parts, and others the rest."""

    processes: Processes = field(default=ALONE, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.processes.count > self.n_parts:
            raise SettingError(f"{self.processes.count} processes: {self._too_few_parts()}")
        self._hold(self.processes.share(self.n_parts))

    def _too_few_parts(self) -> str:
        if self.by_rows:
            return f"a table of items is cut into {CHUNKS} chunks of rows, and every process needs one"
        return (
            f"a table of {self.dim} columns has {self.n_parts} blocks of {self.width}, and every process needs one; "
            f"start at most {self.n_parts}, or train one with more columns"
        )

    def held_positions(self, positions: np.ndarray) -> np.ndarray:
        if not self.by_rows:
            return positions
        edges = np.array([self.rows.start * self.dim, self.rows.stop * self.dim], np.int32)
        first, last = np.searchsorted(positions, edges)
        return positions[first:last].copy()  # a view would keep all of them in memory

    def gather(self, parts: np.ndarray) -> np.ndarray:
        return self.processes.gather(parts, self.n_parts)

    def total(self, numbers: np.ndarray | int) -> np.ndarray:
        return self.processes.total(numbers)

    def largest(self, numbers: np.ndarray) -> np.ndarray:
        return self.processes.largest(numbers)

    def before(self, count: int) -> int:
        everybody = self.processes.gather(np.array([count]), self.processes.count)
        return int(everybody[: self.processes.rank].sum())

    def whole_rows(self, part: np.ndarray) -> np.ndarray:
        """A stretch of rows at a time travels."""
        if self.by_rows:
            return part
        whole = np.empty((len(part), self.dim), part.dtype)
        for first in range(0, len(part), ROWS_AT_ONCE):
            stretch = part[first : first + ROWS_AT_ONCE]
            blocks = np.zeros((len(self.held), self.width, len(stretch)), part.dtype)
            for block, (start, width) in zip(blocks, self.local_blocks):
                block[:width] = stretch[:, start : start + width].T
            columns = self.gather(blocks).reshape(-1, len(stretch))
            whole[first : first + ROWS_AT_ONCE] = columns[: self.dim].T
        return whole

    def all_rows(self, part: np.ndarray) -> np.ndarray:
        if not self.by_rows:
            return part
        sizes = np.diff(self.chunk_edges)
        chunks = np.zeros((len(self.parts), sizes.max(), part.shape[1]), part.dtype)
        for chunk, (_, rows) in zip(chunks, self.local_parts):
            chunk[: rows.stop - rows.start] = part[rows]
        return np.concatenate([chunk[:size] for chunk, size in zip(self.gather(chunks), sizes)])


def shape_for(processes: Processes, n_users: int, n_items: int, dim: int, width: int) -> Shape:
    """The shape of a table that these processes hold together."""
    sizes = n_users, n_items, dim, width
    return Shape(*sizes) if processes.alone else Shards(*sizes, processes)


def holders(shape: Shape) -> Processes:
    """The processes that hold a table of this shape."""
    return shape.processes if isinstance(shape, Shards) else ALONE


# The state of a table cut into those of its single parts, and joined from them again.

ALIGNED = {
    "bounds": ("positions", "values", "first", "second", "ages"),
    "candidates.bounds": ("candidates.watched",),
}
"""Arrays of a sparse table in which entries lie block by block, by the name of what says where blocks begin."""
ACCUMULATED = "candidates.accumulated"
DENSE = ("values", "first", "second")


def cut_state(state: State, shape: Shape, part: int) -> State:
    """What a state of all parts that a shape holds says of one of them."""
    if shape.by_rows:
        return _cut_chunk(state, shape, part)
    index = shape.parts.index(part)
    if "bounds" not in state:
        common = {name: array for name, array in state.items() if not name.startswith(DENSE)}
        return common | {f"{name}.0": state[f"{name}.{index}"] for name in DENSE}
    cut = dict(state)
    for bounds, names in ALIGNED.items():
        if bounds in state:
            begin, end = state[bounds][index : index + 2]
            cut |= {name: state[name][begin:end] for name in names} | {bounds: np.array([0, end - begin])}
    if ACCUMULATED in state:
        start, width = shape.local_blocks[index]
        cut[ACCUMULATED] = state[ACCUMULATED][:, start : start + width]
    return cut


def _cut_chunk(state: State, shape: Shape, part: int) -> State:
    """The same of a chunk of rows; positions and candidates' rows count from the first row of the whole table."""
    edges, origin = shape.chunk_edges[part : part + 2], shape.rows.start
    if "bounds" not in state:
        first, last = edges - origin
        return state | {f"{name}.0": state[f"{name}.0"][first:last] for name in DENSE}
    begin, end = np.searchsorted(state["positions"], edges * np.int32(shape.dim))
    cut = state | {name: state[name][begin:end] for name in ALIGNED["bounds"]}
    cut["bounds"] = np.array([0, end - begin])
    if ACCUMULATED in state:
        rows = state["candidates.rows"]
        begin, end = np.searchsorted(rows, edges) - np.searchsorted(rows, np.int32(origin))
        cut[ACCUMULATED] = state[ACCUMULATED][begin:end]
    return cut


def join_states(parts: list[State], by_rows: bool) -> State:
    """The state of a table of these parts, in their order."""
    joined = dict(parts[0])
    if "bounds" not in joined:
        if by_rows:
            return joined | {
                f"{name}.0": np.concatenate([part[f"{name}.0"] for part in parts]) for name in DENSE
            }
        return joined | {f"{name}.{i}": part[f"{name}.0"] for i, part in enumerate(parts) for name in DENSE}
    for bounds, names in ALIGNED.items():
        if bounds in joined:
            joined |= {name: np.concatenate([part[name] for part in parts]) for name in names}
            ends = np.cumsum([0] + [part[bounds][-1] for part in parts])
            joined[bounds] = ends[[0, -1]] if by_rows else ends
    if ACCUMULATED in joined:
        joined[ACCUMULATED] = np.concatenate([part[ACCUMULATED] for part in parts], axis=0 if by_rows else 1)
    return joined
