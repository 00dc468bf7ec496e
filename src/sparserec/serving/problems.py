"""The ways a question to a model can be wrong: one named error each, saying what was asked and what to ask instead."""

from __future__ import annotations

from sparserec.errors import SparserecError


class UnknownUserError(SparserecError):
    """The model has no such user."""


class UnknownItemError(SparserecError):
    """The model has no such item."""


class QuestionError(SparserecError):
    """A question that makes no sense: a user and a history at once, or more items than there are."""
