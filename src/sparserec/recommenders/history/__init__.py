"""Base `history`: a user is the items they have. Its settings, steps, choices and costs."""

from sparserec.recommenders.history.base import History
from sparserec.recommenders.history.batch import HistorySettings

__all__ = ["History", "HistorySettings"]
