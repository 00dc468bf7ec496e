"""The ways interaction data can be wrong: one named error each, saying where it is and what to do."""

from __future__ import annotations

from sparserec.errors import DataError


class UnreadableFileError(DataError):
    """A file is missing, is not what its name says, or ends too early."""


class EmptyDataError(DataError):
    """There is nothing to read, or nothing is left after filtering."""


class MalformedLineError(DataError):
    """A line does not have the form of the rest of the file."""


class IdRangeError(DataError):
    """An id is negative, too large or too long."""


class EmptyUserError(DataError):
    """A user is listed without any interaction."""


class MissingColumnError(DataError):
    """A table has no column for something that is needed."""


class BadValueError(DataError):
    """A rating, time or id cell cannot be understood."""


class EncodingError(DataError):
    """A text file is not UTF-8."""


class UnknownFormatError(DataError):
    """Nothing we know how to read."""


class ProtocolError(DataError):
    """A split protocol does not exist or does not fit the data."""


class SamplingError(DataError):
    """Batches cannot be drawn from this training set."""


class DownloadError(DataError):
    """A named data set could not be fetched or is not what it should be."""


class WrongDataError(DataError):
    """Files under the name of a data set hold something else."""
