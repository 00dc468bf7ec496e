/** The safetensors container: every byte accounted for and checked before anything is allocated. */

import {
  BadMetadata, BadTensorEntry, FileError, HeaderNotJson, HeaderNotPadded, HeaderNotUtf8, HeaderTooLarge, HoleInPayload,
  Misaligned, MissingTensor, NewerVersion, NotSrec, OffsetOutOfRange, OverlappingTensors, Truncated, UnknownDtype,
  WrongChecksum, WrongLength, WrongTensor,
} from './errors.js'
import { parseJson } from './json.js'
import { limitOf } from './memorylimit.js'
import { DIGEST_END, DIGEST_START } from './sha256.js'

const MAX_HEADER = 1 << 20
const MAX_FILE = 2 ** 32 - 1
const MAJOR_VERSION = 1
const PREFIX = /^\{"__metadata__":\{"sha256":"[0-9a-f]{64}"/
const ELEMENT_BYTES = new Map([
  ['F64', 8], ['I64', 8], ['U64', 8], ['F32', 4], ['I32', 4], ['U32', 4], ['F16', 2], ['BF16', 2],
  ['I16', 2], ['U16', 2], ['I8', 1], ['U8', 1], ['BOOL', 1],
])

/**
 * Where a tensor lies: offsets count from the start of the payload.
 *
 * @typedef {{dtype: string, shape: number[], begin: number, end: number}} Entry
 */

/**
 * A checked file. Views of its tensors are made when asked for.
 *
 * @typedef {object} Container
 * @property {Uint8Array} bytes starts at a multiple of 8 in its ArrayBuffer
 * @property {number} payloadStart
 * @property {Record<string, string>} metadata
 * @property {Map<string, Entry>} entries
 * @property {import('./memorylimit.js').MemoryLimit} limit what its tables may still take in memory
 */

/**
 * Check everything about a file but its checksum; the order of the checks is that of docs/format.md.
 *
 * @param {ArrayBuffer | Uint8Array} data
 * @returns {Container}
 */
export function parseContainer(data) {
  const bytes = alignedBytes(data)
  const length = headerLength(bytes)
  const text = headerText(bytes.subarray(8, 8 + length))
  const header = parseHeader(text)
  if (!isObject(header)) throw new HeaderNotJson('the header is not a JSON object')
  const { __metadata__: rawMetadata, ...tensors } = header
  const metadata = checkMetadata(rawMetadata)
  const payloadSize = bytes.length - 8 - length
  const entries = checkEntries(Object.entries(tensors), payloadSize)
  checkCoverage(entries, payloadSize)
  return { bytes, payloadStart: 8 + length, metadata, entries, limit: limitOf(bytes.length) }
}

/**
 * Compare the digest written in a file with the one it has.
 *
 * @param {Container} container
 * @param {string} digest
 */
export function checkDigest({ bytes }, digest) {
  const written = String.fromCharCode(...bytes.subarray(DIGEST_START, DIGEST_END))
  if (written !== digest) {
    throw new WrongChecksum('the SHA-256 of the file is not the one written in it: download or export it again')
  }
}

/**
 * A tensor that must have one of these dtypes and this shape (null: any size), as a view. Float16 comes as its bits and
 * 64-bit integers as pairs of 32-bit words, because JavaScript has no plain array for them.
 *
 * @param {Container} container
 * @param {string} name
 * @param {string[]} dtypes
 * @param {(number | null)[]} shape
 * @returns {{dtype: string, data: Uint8Array | Int8Array | Uint16Array | Uint32Array | Int32Array | Float32Array | Float64Array}}
 */
export function getTensor(container, name, dtypes, shape) {
  const entry = container.entries.get(name)
  if (!entry) throw new MissingTensor(`tensor '${name}' is missing`)
  const fits = dtypes.includes(entry.dtype) && entry.shape.length === shape.length &&
    shape.every((size, axis) => size === null || size === entry.shape[axis])
  if (!fits) {
    const wanted = `${dtypes.join(' or ')} [${shape.map(size => size ?? 'any').join(', ')}]`
    throw new WrongTensor(`tensor '${name}' is ${entry.dtype} [${entry.shape.join(', ')}], expected ${wanted}`)
  }
  const { bytes, payloadStart } = container
  return { dtype: entry.dtype, data: makeView(entry, bytes.buffer, bytes.byteOffset + payloadStart + entry.begin) }
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, any>}
 */
export function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Whether a value is a non-negative integer that a float64 holds exactly.
 *
 * @param {unknown} value
 * @returns {value is number}
 */
export function isCount(value) {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

/**
 * @param {Entry} entry
 * @param {ArrayBufferLike} buffer
 * @param {number} offset
 */
function makeView({ dtype, begin, end }, buffer, offset) {
  const length = end - begin
  switch (dtype) {
    case 'I8': return new Int8Array(buffer, offset, length)
    case 'F16': case 'U16': return new Uint16Array(buffer, offset, length / 2)
    case 'U32': return new Uint32Array(buffer, offset, length / 4)
    case 'I32': case 'I64': return new Int32Array(buffer, offset, length / 4)
    case 'F32': return new Float32Array(buffer, offset, length / 4)
    case 'F64': return new Float64Array(buffer, offset, length / 8)
    default: return new Uint8Array(buffer, offset, length)
  }
}

/**
 * The file as bytes that start where 8-byte elements may; copied only if they do not.
 *
 * @param {ArrayBuffer | Uint8Array} data
 * @returns {Uint8Array}
 */
function alignedBytes(data) {
  const isView = ArrayBuffer.isView(data)
  const bytes = isView ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data)
  if (bytes.length > MAX_FILE) throw new FileError('the file has 4 GiB or more')
  return bytes.byteOffset % 8 ? bytes.slice() : bytes
}

/**
 * @param {Uint8Array} bytes
 * @returns {number}
 */
function headerLength(bytes) {
  if (bytes.length < 8) throw new Truncated('the file has fewer than 8 bytes')
  const [low, high] = new Uint32Array(bytes.buffer, bytes.byteOffset, 2)
  if (high || low > MAX_HEADER) {
    throw new HeaderTooLarge(`header of ${high * 2 ** 32 + low} bytes, at most ${MAX_HEADER} allowed`)
  }
  if (bytes.length < 8 + low) throw new Truncated(`header of ${low} bytes in a file of ${bytes.length}`)
  return low
}

/**
 * @param {Uint8Array} raw
 * @returns {string}
 */
function headerText(raw) {
  const start = String.fromCharCode(...raw.subarray(0, DIGEST_END + 1 - 8))
  if (!PREFIX.test(start)) throw new NotSrec('the header does not begin with the checksum of an srec file')
  if (raw.length % 8) throw new HeaderNotPadded(`header of ${raw.length} bytes is not a multiple of 8`)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw)
  } catch {
    throw new HeaderNotUtf8('the header is not valid UTF-8')
  }
}

/**
 * @param {string} text
 * @returns {unknown}
 */
function parseHeader(text) {
  try {
    return parseJson(text)
  } catch (error) {
    throw new HeaderNotJson(`header: ${error instanceof Error ? error.message : error}`)
  }
}

/**
 * @param {unknown} metadata
 * @returns {Record<string, string>}
 */
function checkMetadata(metadata) {
  if (!isObject(metadata) || !Object.values(metadata).every(value => typeof value === 'string')) {
    throw new BadMetadata('__metadata__ is not an object of strings')
  }
  if (metadata.format !== 'srec') throw new BadMetadata("__metadata__.format is not 'srec'")
  const version = /^(\d{1,6})\.\d{1,6}$/.exec(metadata.version ?? '')
  if (!version) throw new BadMetadata('__metadata__.version is not MAJOR.MINOR')
  const major = Number(version[1])
  if (major > MAJOR_VERSION) {
    throw new NewerVersion(`the file has format version ${metadata.version}, this reader knows ${MAJOR_VERSION}.x: update it`)
  }
  if (major < 1) throw new BadMetadata('__metadata__.version: there is no version 0')
  return metadata
}

/**
 * One check after the other, each of all tensors: what is found does not depend on their order, which is not that of the file.
 *
 * @param {[string, any][]} tensors
 * @param {number} payloadSize
 * @returns {Map<string, Entry>}
 */
function checkEntries(tensors, payloadSize) {
  for (const [name, value] of tensors) checkForm(name, value)
  for (const [name, { dtype }] of tensors) {
    if (!ELEMENT_BYTES.has(dtype)) throw new UnknownDtype(`tensor '${name}' has dtype '${dtype}'`)
  }
  for (const [name, { data_offsets: [, end] }] of tensors) {
    if (end > payloadSize) throw new OffsetOutOfRange(`tensor '${name}' ends at ${end} of ${payloadSize} bytes`)
  }
  for (const [name, { dtype, shape, data_offsets: [begin, end] }] of tensors) {
    if (end - begin !== shape.reduce((/** @type {number} */ product, /** @type {number} */ next) => product * next, elementBytes(dtype))) {
      throw new WrongLength(`tensor '${name}': ${end - begin} bytes for shape [${shape.join(', ')}] of ${dtype}`)
    }
  }
  for (const [name, { dtype, data_offsets: [begin] }] of tensors) {
    const size = elementBytes(dtype)
    if (begin % size) throw new Misaligned(`tensor '${name}' starts at ${begin}, not a multiple of ${size}`)
  }
  return new Map(tensors.map(([name, { dtype, shape, data_offsets: [begin, end] }]) => [name, { dtype, shape, begin, end }]))
}

/**
 * @param {string} dtype a known one
 * @returns {number}
 */
function elementBytes(dtype) {
  return ELEMENT_BYTES.get(dtype) ?? 0
}

/**
 * @param {string} name
 * @param {any} value
 */
function checkForm(name, value) {
  if (!isObject(value) || typeof value.dtype !== 'string') throw new BadTensorEntry(`tensor '${name}': no dtype`)
  const { shape, data_offsets: offsets } = value
  const lists = Array.isArray(shape) && Array.isArray(offsets) && shape.length <= 8 && offsets.length === 2
  if (!lists || !shape.every(isCount) || !offsets.every(isCount)) {
    throw new BadTensorEntry(`tensor '${name}': shape or data_offsets are not lists of counts`)
  }
}

/**
 * @param {Map<string, Entry>} entries
 * @param {number} payloadSize
 */
function checkCoverage(entries, payloadSize) {
  let position = 0
  for (const [name, { begin, end }] of [...entries].sort(([, a], [, b]) => a.begin - b.begin || a.end - b.end)) {
    if (begin < position) throw new OverlappingTensors(`tensor '${name}' starts at ${begin}, before ${position}`)
    if (begin > position) throw new HoleInPayload(`bytes ${position} to ${begin} belong to no tensor`)
    position = end
  }
  if (position !== payloadSize) throw new HoleInPayload(`bytes ${position} to ${payloadSize} belong to no tensor`)
}
