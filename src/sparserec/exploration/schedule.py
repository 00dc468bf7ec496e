"""When to explore and how much to drop: pure functions of the step."""

from __future__ import annotations

import math


def cosine_drop_fraction(step: int, last_step: int, start: float, floor: float = 0.0) -> float:
    """Share of active entries to drop at `step`: from `start` down to `floor` at `last_step` along half a cosine."""
    progress = min(max(step / last_step, 0.0), 1.0)
    return floor + (start - floor) * 0.5 * (1.0 + math.cos(math.pi * progress))


def explores_after(step: int, every_steps: int, last_step: int) -> bool:
    """Whether an exploration follows update `step` (1 is the first); none at the very end, nothing could be learnt."""
    return step % every_steps == 0 and step < last_step
