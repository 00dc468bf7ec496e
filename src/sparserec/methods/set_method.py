"""set: drop by magnitude, grow at random (sparse evolutionary training, Nature Communications 2018).

What growing by gradients adds is measured against it. Settings and schedule are those of rigl, as in the code of RigL
that compares the two: the drop fraction starts at .3 and falls along half a cosine, exploration ends at three quarters
of the training, new entries start at 0 with empty moments. The first paper drops a constant share after every epoch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sparserec import streams
from sparserec.exploration import Growth, RandomGrowth
from sparserec.methods.base import Context, StepInfo
from sparserec.methods.exploring import Exploring


class SET(Exploring):
    name = "set"
    idea = "drop the smallest, grow at random"
    paper = "Nature Communications 2018"

    def growth(self, context: Context, table: Any, now: StepInfo) -> Growth:
        return RandomGrowth(np.random.default_rng([context.seed, streams.GROWN, now.step]))
