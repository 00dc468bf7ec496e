"""The state of a table cut into those of single column blocks, and joined from them again.

A block's state does not depend on which other blocks its process holds, so a training may go on with more processes or
fewer.
"""

from __future__ import annotations

import numpy as np

from sparserec.table.base import State

ALIGNED = {
    "bounds": ("positions", "values", "first", "second", "ages"),
    "candidates.bounds": ("candidates.watched",),
}
"""Arrays of a sparse table in which entries lie block by block, by the name of what says where blocks begin."""
BY_COLUMN = "candidates.accumulated"
DENSE = ("values", "first", "second")


def cut_state(state: State, index: int, columns: tuple[int, int]) -> State:
    """What a state says of its block number `index`, which has these (first, width) of its columns."""
    if "bounds" not in state:
        common = {name: array for name, array in state.items() if not name.startswith(DENSE)}
        return common | {f"{name}.0": state[f"{name}.{index}"] for name in DENSE}
    cut = dict(state)
    for bounds, names in ALIGNED.items():
        if bounds in state:
            begin, end = state[bounds][index : index + 2]
            cut |= {name: state[name][begin:end] for name in names} | {bounds: np.array([0, end - begin])}
    if BY_COLUMN in state:
        cut[BY_COLUMN] = state[BY_COLUMN][:, columns[0] : columns[0] + columns[1]]
    return cut


def join_states(blocks: list[State]) -> State:
    """The state of a table of these blocks, in their order."""
    joined = dict(blocks[0])
    if "bounds" not in joined:
        return joined | {
            f"{name}.{i}": block[f"{name}.0"] for i, block in enumerate(blocks) for name in DENSE
        }
    for bounds, names in ALIGNED.items():
        if bounds in joined:
            joined |= {name: np.concatenate([block[name] for block in blocks]) for name in names}
            joined[bounds] = np.cumsum([0] + [block[bounds][-1] for block in blocks])
    if BY_COLUMN in joined:
        joined[BY_COLUMN] = np.concatenate([block[BY_COLUMN] for block in blocks], axis=1)
    return joined
