/** One named error per way a model file, or a question put to it, can be wrong. Every reader uses the same names. */
/** Base of all errors of this package. */
export class DeviceError extends Error {
}
/** Base of the errors that say a file is not a usable model. */
export class FileError extends DeviceError {
}
/** The file ends before its header does. */
export class Truncated extends FileError {
}
/** The header claims more than a mebibyte. */
export class HeaderTooLarge extends FileError {
}
/** The file does not begin as a model file must. */
export class NotSrec extends FileError {
}
/** The header length is not a multiple of eight, so no tensor would be aligned. */
export class HeaderNotPadded extends FileError {
}
/** The header is not valid UTF-8. */
export class HeaderNotUtf8 extends FileError {
}
/** The header is not one JSON object. */
export class HeaderNotJson extends FileError {
}
/** A field of the metadata is missing, mistyped or out of range. */
export class BadMetadata extends FileError {
}
/** The file was written for a newer major version of the format. */
export class NewerVersion extends FileError {
}
/** A tensor's entry in the header is not what safetensors asks for. */
export class BadTensorEntry extends FileError {
}
/** A tensor has a data type that safetensors does not define, or that we do not know. */
export class UnknownDtype extends FileError {
}
/** A tensor claims bytes beyond the end of the file. */
export class OffsetOutOfRange extends FileError {
}
/** A tensor's byte range does not match its shape. */
export class WrongLength extends FileError {
}
/** A tensor does not start at a multiple of its element size. */
export class Misaligned extends FileError {
}
/** Two tensors share bytes. */
export class OverlappingTensors extends FileError {
}
/** Some bytes of the file belong to no tensor. */
export class HoleInPayload extends FileError {
}
/** The content is not what was written. */
export class WrongChecksum extends FileError {
}
/** A tensor that the mode needs is not there. */
export class MissingTensor extends FileError {
}
/** A tensor has another type or shape than the format says. */
export class WrongTensor extends FileError {
}
/** The filter coefficients are not finite, too many or too large. */
export class BadCoefficients extends FileError {
}
/** The file would take more than ten times its bytes in memory. */
export class TooLarge extends FileError {
}
/** Something is stored in two ways at once: a table as bitmask and index, degrees as numbers and as levels. */
export class AmbiguousEncoding extends FileError {
}
/** A row scale or length is negative or not finite. */
export class BadScale extends FileError {
}
/** A stored code is the one value that symmetric quantisation never makes. */
export class CodeOutOfRange extends FileError {
}
/** A column or item index is beyond the end. */
export class IndexOutOfRange extends FileError {
}
/** The columns of a row are not in strictly ascending order. */
export class IndexNotAscending extends FileError {
}
/** Two tensors that must agree on a number of entries do not. */
export class WrongCount extends FileError {
}
/** Bits that belong to nothing are set. */
export class NonzeroPadding extends FileError {
}
/** A gap of the graph leads beyond the last item, or is too wide. */
export class BadGraph extends FileError {
}
/** A number names a value that its table of values does not have. */
export class LevelOutOfRange extends FileError {
}
/** The lengths of a prefix code do not make a complete one. */
export class BadCode extends FileError {
}
/** The slices of product codes do not divide the columns, or their codebooks have too few or too many entries. */
export class BadSlices extends FileError {
}
/** A fold-in weight is negative, too large or not finite. */
export class BadWeight extends FileError {
}
/** What is added to the score of an item is too large or not finite. */
export class BadTerm extends FileError {
}
/** The stored user vector is not finite. */
export class BadVector extends FileError {
}
/** The offsets of a text table do not start at 0, fall, or do not end at its length. */
export class BadTextOffsets extends FileError {
}
/** A text table is not valid UTF-8, or an offset points inside a character. */
export class BadText extends FileError {
}
/** Ids are out of range, not unique, or not in the order the lookup needs. */
export class BadIds extends FileError {
}
/** The golden queries are not in the form the format asks for. */
export class BadGolden extends FileError {
}
/** A golden query gave another answer than the one stored with it. */
export class SelfTestFailed extends DeviceError {
}
/** The file holds no vector or history of this user. */
export class UnknownUser extends DeviceError {
}
/** The file holds no such item. */
export class UnknownItem extends DeviceError {
}
/** The file holds no such tag. */
export class UnknownTag extends DeviceError {
}
/** A question that makes no sense: a negative k, weights of another length than the history. */
export class BadQuery extends DeviceError {
}
/** The file could not be fetched. */
export class CannotFetch extends DeviceError {
}
