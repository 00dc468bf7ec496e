/**
 * Reading rows of few-bit codes, since format 1.1: codes and scales as levels, positions as gaps, as prefixes, or all columns. They end up as the
 * same rows of (column, code) as those of 1.0.
 */

import { getTensor } from './container.js'
import { AmbiguousEncoding, BadScale, CodeOutOfRange, IndexOutOfRange, NonzeroPadding, WrongCount } from './errors.js'
import { readGapClasses } from './gapclasses.js'
import { readLevels, readValues } from './levels.js'
import { takeEntries, takeRows } from './memorylimit.js'

/** @typedef {import('./codecs.js').Counts} Counts */
/** @typedef {import('./codecs.js').Table} Table */
/** @typedef {import('./container.js').Container} Container */

const MOST_ENTRIES = 4096

/**
 * Whether a table is one of these.
 *
 * @param {Container} container
 * @param {string} name
 * @returns {boolean}
 */
export function hasRows({ entries }, name) {
  return entries.has(`${name}.code.value`)
}

/**
 * Check the tensors in the order of the format: values of codes, scale, positions, codes.
 *
 * @param {Container} container
 * @param {string} name
 * @param {number} rows
 * @param {number} dim
 * @returns {Table}
 */
export function readRows(container, name, rows, dim) {
  const { entries } = container
  const gaps = entries.has(`${name}.count.value`)
  const prefix = entries.has(`${name}.size.value`)
  takeRows(container.limit, name, rows)
  if (entries.has(`${name}.code`) || (gaps && prefix)) throw new AmbiguousEncoding(`table '${name}' is stored in two ways`)
  const values = /** @type {Int8Array} */ (readValues(container, `${name}.code`, ['I8'], 2).data)
  if (values.includes(-128)) throw new CodeOutOfRange(`table '${name}' holds the code -128`)
  const scale = readScaleLevels(container, name, rows)
  const size = gaps ? readSizes(container, `${name}.count`, rows, Math.min(dim, MOST_ENTRIES))
    : prefix ? readSizes(container, `${name}.size`, rows, dim) : () => dim
  let total = 0
  for (let row = 0; row < rows; row++) total += size(row)
  takeEntries(container.limit, name, total, gaps || prefix ? dim : undefined)
  const start = new Uint32Array(rows + 1)
  for (let row = 0; row < rows; row++) start[row + 1] = start[row] + size(row)
  let column = gaps ? readGaps(container, name, start, total, dim) : null
  const levels = readLevels(container, `${name}.code`, total, values.length)
  const code = levels.buffer === container.bytes.buffer ? new Int8Array(total) : new Int8Array(levels.buffer) // in place
  for (let entry = 0; entry < total; entry++) code[entry] = values[levels[entry]]
  if (prefix) {
    column = columnArray(dim, total)
    for (let row = 0; row < rows; row++) for (let j = start[row]; j < start[row + 1]; j++) column[j] = j - start[row]
  }
  return { rows, dim, scale: scale ?? unitScale(code, start), code, column, start }
}

/**
 * Scale of each row, or null where the file has none.
 *
 * @param {Container} container
 * @param {string} name
 * @param {number} rows
 * @returns {Float32Array | null}
 */
export function readScaleLevels(container, name, rows) {
  if (!container.entries.has(`${name}.scale.value`)) return null
  const values = /** @type {Float32Array} */ (readValues(container, `${name}.scale`, ['F32']).data)
  if (!values.every(value => value >= 0 && value < Infinity)) {
    throw new BadScale(`table '${name}': a row scale is negative or not finite`)
  }
  const levels = readLevels(container, `${name}.scale`, rows, values.length)
  const scale = new Float32Array(rows)
  for (let row = 0; row < rows; row++) scale[row] = values[levels[row]]
  return scale
}

/**
 * What makes each row of codes as long as one; 0 for a row of zeros.
 *
 * @param {Int8Array} code
 * @param {Uint32Array} start
 * @returns {Float64Array}
 */
function unitScale(code, start) {
  const scale = new Float64Array(start.length - 1)
  for (let row = 0; row < scale.length; row++) {
    let squares = 0
    for (let entry = start[row]; entry < start[row + 1]; entry++) squares += code[entry] * code[entry]
    scale[row] = squares ? 1 / Math.sqrt(squares) : 0
  }
  return scale
}

/**
 * @param {Container} container
 * @param {string} name
 * @param {number} rows
 * @param {number} most
 * @returns {(row: number) => number} entries of a row
 */
function readSizes(container, name, rows, most) {
  const values = /** @type {Counts} */ (readValues(container, name, ['U8', 'U16', 'U32']).data)
  const largest = Math.max(...values)
  if (largest > most) throw new WrongCount(`'${name}.value' has rows of ${largest} entries, at most ${most} are possible`)
  const levels = readLevels(container, name, rows, values.length)
  return row => values[levels[row]]
}

/**
 * @param {number} dim
 * @param {number} length
 * @returns {Uint8Array | Uint16Array | Uint32Array} the narrowest that holds columns
 */
function columnArray(dim, length) {
  return dim <= 2 ** 8 ? new Uint8Array(length) : dim <= 2 ** 16 ? new Uint16Array(length) : new Uint32Array(length)
}

/**
 * Columns of all entries. First entries of all rows come first, then second ones and so on; a gap is a unary quotient and a
 * remainder whose width follows from the columns and entries that are left in the row.
 *
 * @param {Container} container
 * @param {string} name
 * @param {Uint32Array} start
 * @param {number} total entries
 * @param {number} dim
 * @returns {Uint8Array | Uint16Array | Uint32Array}
 */
function readGaps(container, name, start, total, dim) {
  const column = columnArray(dim, total)
  if (container.entries.has(`${name}.gap.length`)) {
    readGapClasses(container, name, start, dim, column)
    return column
  }
  const high = /** @type {Uint8Array} */ (getTensor(container, `${name}.gap.high`, ['U8'], [null]).data)
  const low = /** @type {Uint8Array} */ (getTensor(container, `${name}.gap.low`, ['U8'], [null]).data)
  let ones = 0
  for (let j = 0; j < high.length; j++) for (let byte = high[j]; byte; byte &= byte - 1) ones++
  if (ones !== total || (total ? !high[high.length - 1] : high.length)) {
    throw new WrongCount(`'${name}.gap.high' has ${ones} gaps or bytes to spare, the rows have ${total} entries`)
  }
  let active = longerThan(0, start)
  let unary = high[0] // what is left of the current byte of quotients
  let unaryAt = 0
  let last = -1 // bit that ended the quotient before
  let window = 0 // bits of remainders that are read but not used, and how many
  let held = 0
  let lowAt = 0
  let used = 0
  for (let step = 0; active.length; step++) {
    let far = false
    for (let j = 0; j < active.length; j++) {
      const row = active[j]
      const entry = start[row] + step
      const next = step ? column[entry - 1] + 1 : 0
      const left = dim - next
      const entriesLeft = start[row + 1] - entry
      const width = 31 - Math.clz32((3 * left / (4 * entriesLeft)) | 1)
      while (!unary) unary = high[++unaryAt]
      const bit = 8 * unaryAt + 31 - Math.clz32(unary & -unary)
      unary &= unary - 1
      for (; held < width; held += 8) window |= low[lowAt++] << held
      const gap = (bit - last - 1) * (1 << width) + (window & ((1 << width) - 1))
      window >>>= width
      held -= width
      used += width
      last = bit
      if (gap > left - entriesLeft) far = true
      column[entry] = next + gap
    }
    if (used > 8 * low.length) throw new WrongCount(`'${name}.gap.low' has ${low.length} bytes, too few for its entries`)
    if (far) throw new IndexOutOfRange(`table '${name}': a gap leaves no room for the rest of its row`)
    active = longerThan(step + 1, start, active)
  }
  if (low.length !== Math.ceil(used / 8)) throw new WrongCount(`'${name}.gap.low' has ${low.length} bytes for ${used} bits`)
  if (used % 8 && low[low.length - 1] >> used % 8) {
    throw new NonzeroPadding(`tensor '${name}.gap.low': bits beyond the last are set`)
  }
  return column
}

/**
 * @param {number} size
 * @param {Uint32Array} start
 * @param {Uint32Array} [rows] all if not given; overwritten
 * @returns {Uint32Array} those that have more entries
 */
function longerThan(size, start, rows) {
  const found = rows ?? new Uint32Array(start.length - 1)
  let count = 0
  for (let j = 0; j < found.length; j++) {
    const row = rows ? rows[j] : j
    if (start[row + 1] - start[row] > size) found[count++] = row
  }
  return found.subarray(0, count)
}
