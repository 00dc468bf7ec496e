"""Best score so far, and when to stop waiting for a better one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class EarlyStop:
    """Counts validations without a new best once patience has begun."""

    best_score: float | None = None
    best_epoch: int = 0
    waited: int = 0
    parameters: int = 0  # of the best table

    def see(self, epoch: int, score: float, counts: bool, parameters: int = 0) -> bool:
        """Take a validation score; True when it is a new best.

        A best found while the table was still on its way to its budget, from below or above, counts no more once its
        size has changed.
        """
        if self.best_score is None or score > self.best_score or parameters != self.parameters:
            self.best_score, self.best_epoch, self.waited, self.parameters = score, epoch, 0, parameters
            return True
        if counts:
            self.waited += 1
        return False
