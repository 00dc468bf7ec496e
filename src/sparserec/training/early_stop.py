"""Best score so far, and when to stop waiting for a better one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class EarlyStop:
    """Counts validations without a new best once patience has begun."""

    best_score: float | None = None
    best_epoch: int = 0
    waited: int = 0

    def see(self, epoch: int, score: float, counts: bool) -> bool:
        """Take a validation score; True when it is a new best."""
        if self.best_score is None or score > self.best_score:
            self.best_score, self.best_epoch, self.waited = score, epoch, 0
            return True
        if counts:
            self.waited += 1
        return False
