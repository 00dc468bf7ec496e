"""When to explore and how much to drop: pure functions of the step."""

from __future__ import annotations

import math


def cosine_drop_fraction(step: int, last_step: int, start: float, floor: float = 0.0) -> float:
    """Share of active entries to drop at `step`: from `start` down to `floor` at `last_step` along half a cosine."""
    progress = min(max(step / last_step, 0.0), 1.0)
    return floor + (start - floor) * 0.5 * (1.0 + math.cos(math.pi * progress))


def interval_of(explorations: int, last_step: int) -> int:
    """Steps between explorations so that at least as many as asked for happen before `last_step`; 1 at the least."""
    return max(1, last_step // (explorations + 1))


def explores_after(step: int, interval: int, last_step: int, since: int = 0) -> bool:
    """Whether an exploration follows update `step` (1 is the first), `interval` steps after step `since`.

    None at the very end: nothing could be learnt any more.
    """
    return (step - since) % interval == 0 and since < step < last_step
