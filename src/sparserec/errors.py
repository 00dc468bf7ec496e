"""Errors a user can cause. Each names what was wrong, where, and what to do; the CLI prints only the message."""


class SparserecError(Exception):
    """Base of every error that is about the user's input, not about a defect of ours."""


class DataError(SparserecError):
    """An interaction file or frame cannot be understood."""


class SettingError(SparserecError):
    """A setting is unknown, mistyped or out of range."""


class RunError(SparserecError):
    """A run directory or checkpoint is missing, damaged, or belongs to another configuration."""


class TrainingError(SparserecError):
    """Training produced something that cannot be continued (a loss that is not finite, say)."""
