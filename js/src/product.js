/**
 * Product codes (format 1.1): a row is one entry of a small codebook in each slice of the columns, and nothing is ever made dense.
 */

import { readTable } from './codecs.js'
import { getTensor } from './container.js'
import { AmbiguousEncoding, BadSlices } from './errors.js'
import { bitsFor, snap } from './exact.js'
import { readLevels } from './levels.js'
import { takeEntries, takeRows } from './memorylimit.js'
import { hasRows, readRows, readScaleLevels } from './rows.js'
import { BLOCK_ROWS, tableDotsFrom, tableLengths, tableRow, tableSumFrom } from './table.js'

/** @typedef {import('./codecs.js').Table} Table */
/** @typedef {import('./container.js').Container} Container */
/** @typedef {import('./tables.js').Matrix} Matrix */

/**
 * Check the tensors in the order of the format: slices, scale, codes, codebooks.
 *
 * @param {Container} container
 * @param {string} name
 * @param {number} rows
 * @param {number} dim
 * @returns {Matrix}
 */
export function readCodes(container, name, rows, dim) {
  takeRows(container.limit, name, rows)
  if (container.entries.has(`${name}.code`) || hasRows(container, name)) {
    throw new AmbiguousEncoding(`table '${name}' is stored in two ways`)
  }
  const [slices, entries] = getTensor(container, `${name}.slices`, ['U16'], [2]).data
  if (slices < 1 || dim % slices || entries < 2 || entries > 256) {
    throw new BadSlices(`table '${name}' has ${slices} slices of ${dim} columns, with ${entries} entries each`)
  }
  takeEntries(container.limit, name, rows * slices)
  const scale = readScaleLevels(container, name, rows) ?? new Float32Array(rows).fill(1)
  const code = readLevels(container, `${name}.part`, rows * slices, entries)
  const read = hasRows(container, `${name}.book`) ? readRows : readTable
  const book = read(container, `${name}.book`, slices * entries, dim / slices)
  return codedMatrix({ slices, entries, scale, code, book })
}

/**
 * @typedef {object} Coded
 * @property {number} slices
 * @property {number} entries of the codebook of one slice
 * @property {Float32Array} scale of each row
 * @property {Uint8Array} code which entry: all rows for the first slice, then for the second ..
 * @property {Table} book slices times entries rows
 */

/**
 * @param {Coded} coded
 * @returns {Matrix}
 */
function codedMatrix({ slices, entries, scale, code, book }) {
  const width = book.dim
  const rows = scale.length

  /** @param {Float64Array} vector @returns {Float64Array} inner products with all codebook entries */
  const lookUps = vector => {
    const table = new Float64Array(slices * entries)
    for (let slice = 0; slice < slices; slice++) {
      const first = slice * entries
      tableDotsFrom(book, vector.subarray(slice * width, (slice + 1) * width), first, table.subarray(first, first + entries))
    }
    snap(table, 52 - bitsFor(slices))
    return table
  }
  return {
    dots(vector) {
      const out = codeSums(lookUps(vector), slices, entries, rows, code)
      for (let row = 0; row < rows; row++) out[row] *= scale[row]
      return out
    },
    dotsOf(vector, some) {
      const table = lookUps(vector)
      return Float64Array.from(some, row => {
        let sum = 0
        for (let slice = 0; slice < slices; slice++) sum += table[slice * entries + code[slice * rows + row]]
        return sum * scale[row]
      })
    },
    rowsum(weights, some) {
      const total = new Float64Array(slices * entries)
      const count = some ? some.length : rows
      for (let first = 0; first < count; first += BLOCK_ROWS) {
        const block = new Float64Array(Math.min(BLOCK_ROWS, count - first))
        for (let j = 0; j < block.length; j++) block[j] = weights[first + j] * scale[some ? some[first + j] : first + j]
        if (!snap(block, 40)) continue
        const sum = new Float64Array(total.length)
        for (let slice = 0; slice < slices; slice++) {
          for (let j = 0; j < block.length; j++) {
            sum[slice * entries + code[slice * rows + (some ? some[first + j] : first + j)]] += block[j]
          }
        }
        for (let entry = 0; entry < total.length; entry++) total[entry] += sum[entry]
      }
      const out = new Float64Array(slices * width)
      for (let slice = 0; slice < slices; slice++) {
        const first = slice * entries
        tableSumFrom(book, total.subarray(first, first + entries), first, out.subarray(slice * width, (slice + 1) * width))
      }
      return out
    },
    row(row) {
      const out = new Float64Array(slices * width)
      for (let slice = 0; slice < slices; slice++) {
        out.set(tableRow(book, slice * entries + code[slice * rows + row]), slice * width)
      }
      return out.map(value => value * scale[row])
    },
    lengths() {
      const squares = tableLengths(book).map(length => length * length)
      const out = codeSums(squares, slices, entries, rows, code)
      for (let row = 0; row < rows; row++) out[row] = scale[row] * Math.sqrt(out[row])
      return out
    },
  }
}

/**
 * For each row the sum of what it looks up in each slice, slice after slice. Eight of them at a time: fewer passes over the sums.
 *
 * @param {Float64Array} table
 * @param {number} slices
 * @param {number} entries
 * @param {number} rows
 * @param {Uint8Array} code
 * @returns {Float64Array}
 */
function codeSums(table, slices, entries, rows, code) {
  const out = new Float64Array(rows)
  const [b, c, d, e, f, g, h] = [1, 2, 3, 4, 5, 6, 7].map(more => more * entries)
  let slice = 0
  for (; slice + 7 < slices; slice += 8) {
    const a = slice * entries
    const [p, q, r, s, t, u, v, w] = [0, 1, 2, 3, 4, 5, 6, 7].map(more => (slice + more) * rows)
    for (let row = 0; row < rows; row++) {
      out[row] = out[row] + table[a + code[p + row]] + table[a + b + code[q + row]] + table[a + c + code[r + row]] +
        table[a + d + code[s + row]] + table[a + e + code[t + row]] + table[a + f + code[u + row]] +
        table[a + g + code[v + row]] + table[a + h + code[w + row]]
    }
  }
  for (; slice < slices; slice++) {
    for (let row = 0, a = slice * entries, at = slice * rows; row < rows; row++) out[row] += table[a + code[at + row]]
  }
  return out
}
