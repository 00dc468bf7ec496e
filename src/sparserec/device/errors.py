"""One named error per way a model file, or a question put to it, can be wrong. Every reader uses the same names."""

from __future__ import annotations


class DeviceError(Exception):
    """Base of all errors of the device package."""


class FileError(DeviceError):
    """Base of the errors that say a file is not a usable model."""


class Truncated(FileError):
    """The file ends before its header does."""


class HeaderTooLarge(FileError):
    """The header claims more than a mebibyte."""


class NotSrec(FileError):
    """The file does not begin as a model file must."""


class HeaderNotPadded(FileError):
    """The header length is not a multiple of eight, so no tensor would be aligned."""


class HeaderNotUtf8(FileError):
    """The header is not valid UTF-8."""


class HeaderNotJson(FileError):
    """The header is not one JSON object."""


class BadMetadata(FileError):
    """A field of the metadata is missing, mistyped or out of range."""


class NewerVersion(FileError):
    """The file was written for a newer major version of the format."""


class BadTensorEntry(FileError):
    """A tensor's entry in the header is not what safetensors asks for."""


class UnknownDtype(FileError):
    """A tensor has a data type that safetensors does not define, or that we do not know."""


class OffsetOutOfRange(FileError):
    """A tensor claims bytes beyond the end of the file."""


class WrongLength(FileError):
    """A tensor's byte range does not match its shape."""


class Misaligned(FileError):
    """A tensor does not start at a multiple of its element size."""


class OverlappingTensors(FileError):
    """Two tensors share bytes."""


class HoleInPayload(FileError):
    """Some bytes of the file belong to no tensor."""


class WrongChecksum(FileError):
    """The content is not what was written."""


class MissingTensor(FileError):
    """A tensor that the mode needs is not there."""


class WrongTensor(FileError):
    """A tensor has another type or shape than the format says."""


class BadCoefficients(FileError):
    """The filter coefficients are not finite, too many or too large."""


class TooLarge(FileError):
    """The file would take more than ten times its bytes in memory."""


class AmbiguousEncoding(FileError):
    """Something is stored in two ways at once: a table as bitmask and index, degrees as numbers and as levels."""


class BadScale(FileError):
    """A row scale or length is negative or not finite."""


class CodeOutOfRange(FileError):
    """A stored code is the one value that symmetric quantisation never makes."""


class IndexOutOfRange(FileError):
    """A column or item index is beyond the end."""


class IndexNotAscending(FileError):
    """The columns of a row are not in strictly ascending order."""


class WrongCount(FileError):
    """Two tensors that must agree on a number of entries do not."""


class NonzeroPadding(FileError):
    """Bits that belong to nothing are set."""


class BadGraph(FileError):
    """A gap of the graph leads beyond the last item, or is too wide."""


class LevelOutOfRange(FileError):
    """A number names a value that its table of values does not have."""


class BadCode(FileError):
    """The lengths of a prefix code do not make a complete one."""


class BadSlices(FileError):
    """The slices of product codes do not divide the columns, or their codebooks have too few or too many entries."""


class BadWeight(FileError):
    """A fold-in weight is negative, too large or not finite."""


class BadTerm(FileError):
    """What is added to the score of an item is too large or not finite."""


class BadVector(FileError):
    """The stored user vector is not finite."""


class BadTextOffsets(FileError):
    """The offsets of a text table do not start at 0, fall, or do not end at its length."""


class BadText(FileError):
    """A text table is not valid UTF-8, or an offset points inside a character."""


class BadIds(FileError):
    """Ids are out of range, not unique, or not in the order the lookup needs."""


class BadGolden(FileError):
    """The golden queries are not in the form the format asks for."""


class SelfTestFailed(DeviceError):
    """A golden query gave another answer than the one stored with it."""


class UnknownUser(DeviceError):
    """The file holds no vector or history of this user."""


class UnknownItem(DeviceError):
    """The file holds no such item."""


class UnknownTag(DeviceError):
    """The file holds no such tag."""


class BadQuery(DeviceError):
    """A question that makes no sense: a negative k, weights of another length than the history."""


class CannotWrite(DeviceError):
    """The parts handed to the writer do not make a model."""
