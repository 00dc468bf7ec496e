/** Tables in whatever way a file holds them: each way has one tensor that no other has. */

import { readTable } from './codecs.js'
import { readCodes } from './product.js'
import { readRows } from './rows.js'
import { tableDots, tableDotsOf, tableLengths, tableRow, tableRowsum } from './table.js'

/** @typedef {import('./codecs.js').Table} Table */
/** @typedef {import('./container.js').Container} Container */

/**
 * @typedef {object} Matrix what a table is good for
 * @property {(vector: Float64Array) => Float64Array} dots inner product of every row with a vector
 * @property {(vector: Float64Array, rows: number[]) => Float64Array} dotsOf the same for a few rows
 * @property {(weights: ArrayLike<number>, rows?: number[]) => Float64Array} rowsum weighted sum of rows, of all if not given
 * @property {(row: number) => Float64Array} row as a dense vector
 * @property {() => Float64Array} lengths of all rows
 */

/** @typedef {(container: Container, name: string, rows: number, dim: number) => Table | Matrix} ReadTable */

/**
 * What reads a table, by that tensor, in the order of the format. Encodings from outside join them.
 *
 * @type {Record<string, ReadTable>}
 */
export const READERS = { slices: readCodes, 'code.value': readRows, code: readTable }

/**
 * @param {Container} container
 * @param {string} name
 * @param {number} rows
 * @param {number} dim
 * @returns {Matrix}
 */
export function readMatrix(container, name, rows, dim) {
  const known = Object.keys(READERS).find(tensor => container.entries.has(`${name}.${tensor}`))
  const table = READERS[known ?? 'code'](container, name, rows, dim) // which says what is missing
  if ('dots' in table) return table
  return {
    dots: vector => tableDots(table, vector),
    dotsOf: (vector, some) => tableDotsOf(table, vector, some),
    rowsum: (weights, some) => tableRowsum(table, weights, some),
    row: row => tableRow(table, row),
    lengths: () => tableLengths(table),
  }
}
