"""The state of a table cut into those of its single parts, and joined from them again.

Parts are column blocks or, of a table of items alone, chunks of rows. The state of one does not depend on which others
its process holds, so a training may go on with more processes or fewer.
"""

from __future__ import annotations

import numpy as np

from sparserec.table.base import Shape, State

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
