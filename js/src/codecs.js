/**
 * Reading tables of sparse int8 or int4 rows. Whatever the encoding, a table ends up as rows of (column, code), so that there is
 * one loop to multiply with it. Codes of 8 bits and stored indices stay views of the file.
 */

import { getTensor } from './container.js'
import {
  AmbiguousEncoding, BadScale, CodeOutOfRange, IndexNotAscending, IndexOutOfRange, MissingTensor, NonzeroPadding,
  WrongCount, WrongTensor,
} from './errors.js'
import { takeEntries, takeRows } from './memorylimit.js'

/** @typedef {import('./container.js').Container} Container */
/** @typedef {Uint8Array | Uint16Array | Uint32Array} Counts */

/**
 * @typedef {object} Table
 * @property {number} rows
 * @property {number} dim
 * @property {Float32Array | Float64Array} scale of each row
 * @property {Int8Array} code of each entry, in row order
 * @property {Uint8Array | Uint16Array | Uint32Array | null} column of each entry; null where every row holds all columns in order
 * @property {Uint32Array} start where each row begins, and the end
 */

/**
 * Check a table's tensors in the order of the format and make it ready to multiply.
 *
 * @param {Container} container
 * @param {string} name
 * @param {number} rows
 * @param {number} dim
 * @returns {Table}
 */
export function readTable(container, name, rows, dim) {
  takeRows(container.limit, name, rows)
  for (const needed of [`${name}.scale`, `${name}.code`]) {
    if (!container.entries.has(needed)) throw new MissingTensor(`tensor '${needed}' is missing`)
  }
  const masked = container.entries.has(`${name}.mask`)
  const indexed = container.entries.has(`${name}.index`)
  if (masked && indexed) throw new AmbiguousEncoding(`table '${name}' has both a mask and an index`)
  const { dtype, data: stored } = getTensor(container, `${name}.code`, ['I8', 'U8'], [null])
  getTensor(container, `${name}.scale`, ['F16', 'F32'], [rows])
  const codes = { name, perByte: dtype === 'I8' ? 1 : 2, length: stored.length }
  const read = masked ? readMask : indexed ? readIndex : readDense
  const { scale, column, start } = read(container, codes, rows, dim)
  const code = codes.perByte === 1
    ? checkBytes(name, /** @type {Int8Array} */ (stored))
    : unpackHalves(name, /** @type {Uint8Array} */ (stored), start[rows])
  return { rows, dim, scale, code, column, start }
}

/**
 * Finite, non-negative numbers stored as F16 or F32.
 *
 * @param {Container} container
 * @param {string} name
 * @param {number} count
 * @returns {Float32Array}
 */
export function readScale(container, name, count) {
  const { dtype, data } = getTensor(container, name, ['F16', 'F32'], [count])
  const scale = dtype === 'F32' ? /** @type {Float32Array} */ (data) : widenHalves(/** @type {Uint16Array} */ (data))
  for (let row = 0; row < count; row++) {
    if (!(scale[row] >= 0 && scale[row] < Infinity)) throw new BadScale(`tensor '${name}': ${scale[row]} in row ${row}`)
  }
  return scale
}

/**
 * Bits after the last used one in each row of a bit set must be 0.
 *
 * @param {string} name
 * @param {Uint8Array} bits
 * @param {number} used bits of a row
 */
export function checkPadding(name, bits, used) {
  const width = Math.ceil(used / 8)
  if (used % 8 === 0) return
  for (let last = width - 1; last < bits.length; last += width) {
    if (bits[last] >> used % 8) throw new NonzeroPadding(`tensor '${name}': bits beyond ${used} are set`)
  }
}

/**
 * Float16 bits to numbers.
 *
 * @param {Uint16Array} bits
 * @returns {Float32Array}
 */
export function widenHalves(bits) {
  const out = new Float32Array(bits.length)
  const powers = Float64Array.from({ length: 32 }, (_, exponent) => 2 ** (Math.max(exponent, 1) - 25))
  powers[31] = Infinity
  for (let j = 0; j < bits.length; j++) {
    const exponent = (bits[j] >> 10) & 31
    const fraction = bits[j] & 1023
    const size = exponent === 31 && fraction ? NaN : (exponent ? fraction + 1024 : fraction) * powers[exponent]
    out[j] = bits[j] & 0x8000 ? -size : size
  }
  return out
}

/**
 * @typedef {{name: string, perByte: number, length: number}} StoredCodes what there is of codes, before they are read
 * @typedef {{scale: Float32Array, column: Table['column'], start: Uint32Array}} Positions
 */

/**
 * @param {StoredCodes} codes
 * @param {number} entries
 * @param {typeof WrongCount | typeof WrongTensor} Failure
 */
function checkCodeLength({ name, perByte, length }, entries, Failure) {
  const expected = Math.ceil(entries / perByte)
  if (length !== expected) {
    throw new Failure(`table '${name}' has ${length} bytes of codes, ${entries} entries need ${expected}`)
  }
}

/**
 * @param {Container} container
 * @param {StoredCodes} codes
 * @param {number} rows
 * @param {number} dim
 * @returns {Positions}
 */
function readDense(container, codes, rows, dim) {
  checkCodeLength(codes, rows * dim, WrongTensor)
  takeEntries(container.limit, codes.name, codes.perByte * codes.length)
  const scale = readScale(container, `${codes.name}.scale`, rows)
  const start = new Uint32Array(rows + 1)
  for (let row = 0; row < rows; row++) start[row + 1] = start[row] + dim
  return { scale, column: null, start }
}

/**
 * @param {Container} container
 * @param {StoredCodes} codes
 * @param {number} rows
 * @param {number} dim
 * @returns {Positions}
 */
function readMask(container, codes, rows, dim) {
  const width = Math.ceil(dim / 8)
  const mask = /** @type {Uint8Array} */ (getTensor(container, `${codes.name}.mask`, ['U8'], [rows, width]).data)
  takeEntries(container.limit, codes.name, codes.perByte * codes.length, dim)
  const scale = readScale(container, `${codes.name}.scale`, rows)
  checkPadding(`${codes.name}.mask`, mask, dim)
  const start = new Uint32Array(rows + 1)
  for (let row = 0, at = 0, entries = 0; row < rows; row++) {
    for (const end = at + width; at < end; at++) {
      for (let byte = mask[at]; byte; byte &= byte - 1) entries++
    }
    start[row + 1] = entries
  }
  checkCodeLength(codes, start[rows], WrongCount)
  const column = dim > 256 ? new Uint16Array(start[rows]) : new Uint8Array(start[rows])
  for (let row = 0, at = 0, entry = 0; row < rows; row++) {
    for (let first = 0; first < dim; first += 8, at++) {
      for (let byte = mask[at]; byte; byte &= byte - 1) column[entry++] = first + 31 - Math.clz32(byte & -byte)
    }
  }
  return { scale, column, start }
}

/**
 * @param {Container} container
 * @param {StoredCodes} codes
 * @param {number} rows
 * @param {number} dim
 * @returns {Positions}
 */
function readIndex(container, codes, rows, dim) {
  const { name } = codes
  const index = /** @type {Uint8Array | Uint16Array} */ (
    getTensor(container, `${name}.index`, [dim > 256 ? 'U16' : 'U8'], [null]).data)
  const count = /** @type {Counts} */ (getTensor(container, `${name}.count`, ['U8', 'U16'], [null]).data)
  if (count.length !== 1 && count.length !== rows) {
    throw new WrongTensor(`tensor '${name}.count' has ${count.length} entries for ${rows} rows`)
  }
  takeEntries(container.limit, name, codes.perByte * codes.length, dim)
  const scale = readScale(container, `${name}.scale`, rows)
  for (let entry = 0; entry < index.length; entry++) {
    if (index[entry] >= dim) throw new IndexOutOfRange(`table '${name}': column ${index[entry]} of ${dim}`)
  }
  const start = runningSum(count, rows)
  if (!start || start[rows] !== index.length) {
    throw new WrongCount(`table '${name}': the rows have another number of entries than the index (${index.length})`)
  }
  for (let row = 0; row < rows; row++) {
    for (let entry = start[row] + 1; entry < start[row + 1]; entry++) {
      if (index[entry] <= index[entry - 1]) throw new IndexNotAscending(`table '${name}': columns of row ${row} do not ascend`)
    }
  }
  checkCodeLength(codes, index.length, WrongCount)
  return { scale, column: index, start }
}

/**
 * Where each row begins, and the end; null if that does not fit 32 bits and so cannot be right.
 *
 * @param {Counts} counts one for each row, or one for all
 * @param {number} rows
 * @returns {Uint32Array | null}
 */
export function runningSum(counts, rows) {
  const start = new Uint32Array(rows + 1)
  const stride = counts.length === rows ? 1 : 0
  let total = 0
  for (let row = 0; row < rows; row++) {
    total += counts[row * stride]
    start[row + 1] = total
  }
  return total < 2 ** 32 ? start : null
}

/**
 * @param {string} name
 * @param {Int8Array} code
 * @returns {Int8Array}
 */
function checkBytes(name, code) {
  for (let entry = 0; entry < code.length; entry++) {
    if (code[entry] === -128) throw new CodeOutOfRange(`table '${name}' holds the code -128`)
  }
  return code
}

/**
 * 4-bit codes to bytes.
 *
 * @param {string} name
 * @param {Uint8Array} stored
 * @param {number} entries
 * @returns {Int8Array}
 */
function unpackHalves(name, stored, entries) {
  if (entries % 2 && stored[stored.length - 1] >> 4) {
    throw new NonzeroPadding(`table '${name}': the unused half of the last code is set`)
  }
  const code = new Int8Array(entries)
  for (let entry = 0; entry < entries; entry++) {
    code[entry] = (stored[entry >>> 1] << (entry & 1 ? 24 : 28)) >> 28
    if (code[entry] === -8) throw new CodeOutOfRange(`table '${name}' holds the code -8`)
  }
  return code
}
