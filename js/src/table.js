/** Multiplying with a table of sparse rows, without ever making it dense. These are the hot loops: no allocation per row. */

import { bitsFor, snap } from './exact.js'

/** @typedef {import('./codecs.js').Table} Table */

/** Rows whose weighted sum is exact. */
export const BLOCK_ROWS = 4096

/**
 * Inner product of every row with a vector.
 *
 * @param {Table} table
 * @param {Float64Array} vector
 * @returns {Float64Array}
 */
export function tableDots(table, vector) {
  const { rows, scale, code, column, start } = table
  const query = snappedQuery(table, vector)
  const out = new Float64Array(rows)
  if (column === null) return denseDots(table, query, out)
  for (let row = 0, entry = 0; row < rows; row++) {
    let sum = 0
    for (const end = start[row + 1]; entry < end; entry++) sum += code[entry] * query[column[entry]]
    out[row] = scale[row] * sum
  }
  return out
}

/**
 * Inner products of a few rows with a vector.
 *
 * @param {Table} table
 * @param {Float64Array} vector
 * @param {number[]} rows
 * @returns {Float64Array}
 */
export function tableDotsOf(table, vector, rows) {
  const { scale, code, column, start } = table
  const query = snappedQuery(table, vector)
  return Float64Array.from(rows, row => {
    let sum = 0
    for (let entry = start[row]; entry < start[row + 1]; entry++) {
      sum += code[entry] * query[column ? column[entry] : entry - start[row]]
    }
    return scale[row] * sum
  })
}

/**
 * Inner products of as many rows as fit, from one on.
 *
 * @param {Table} table
 * @param {Float64Array} vector
 * @param {number} first
 * @param {Float64Array} out filled in
 */
export function tableDotsFrom(table, vector, first, out) {
  const { scale, code, column, start } = table
  const query = snappedQuery(table, vector)
  for (let j = 0, entry = start[first]; j < out.length; j++) {
    let sum = 0
    for (let c = 0, end = start[first + j + 1]; entry < end; c++, entry++) sum += code[entry] * query[column ? column[entry] : c]
    out[j] = scale[first + j] * sum
  }
}

/**
 * Weighted sum of rows, in blocks whose sums are exact.
 *
 * @param {Table} table
 * @param {ArrayLike<number>} weights one for each row in `rows`
 * @param {number[]} [rows] all rows if not given
 * @returns {Float64Array}
 */
export function tableRowsum(table, weights, rows) {
  const total = new Float64Array(table.dim)
  const scaled = new Float64Array(BLOCK_ROWS)
  const count = rows ? rows.length : table.rows
  for (let first = 0; first < count; first += BLOCK_ROWS) {
    const block = scaled.subarray(0, Math.min(BLOCK_ROWS, count - first))
    for (let j = 0; j < block.length; j++) block[j] = weights[first + j] * table.scale[rows ? rows[first + j] : first + j]
    if (!snap(block, 33)) continue
    const sum = blockSum(table, block, first, rows)
    for (let c = 0; c < total.length; c++) total[c] += sum[c]
  }
  return total
}

/**
 * Weighted sum of as many rows as there are weights, at most BLOCK_ROWS, from one on.
 *
 * @param {Table} table
 * @param {Float64Array} weights
 * @param {number} first
 * @param {Float64Array} out filled in
 */
export function tableSumFrom(table, weights, first, out) {
  const scaled = weights.map((weight, j) => weight * table.scale[first + j])
  if (snap(scaled, 33)) out.set(blockSum(table, scaled, first, undefined))
}

/**
 * One row as a dense vector.
 *
 * @param {Table} table
 * @param {number} row
 * @returns {Float64Array}
 */
export function tableRow({ dim, scale, code, column, start }, row) {
  const out = new Float64Array(dim)
  for (let entry = start[row]; entry < start[row + 1]; entry++) {
    out[column ? column[entry] : entry - start[row]] = code[entry] * scale[row]
  }
  return out
}

/**
 * One entry; 0 where the row has none there.
 *
 * @param {Table} table
 * @param {number} row
 * @param {number} wanted
 * @returns {number}
 */
export function tableValue({ scale, code, column, start }, row, wanted) {
  for (let entry = start[row]; entry < start[row + 1]; entry++) {
    if ((column ? column[entry] : entry - start[row]) === wanted) return code[entry] * scale[row]
  }
  return 0
}

/**
 * Euclidean length of every row.
 *
 * @param {Table} table
 * @returns {Float64Array}
 */
export function tableLengths({ rows, scale, code, start }) {
  const out = new Float64Array(rows)
  for (let row = 0; row < rows; row++) {
    let squares = 0
    for (let entry = start[row]; entry < start[row + 1]; entry++) squares += code[entry] * code[entry]
    out[row] = scale[row] * Math.sqrt(squares)
  }
  return out
}

/**
 * Four rows at a time, which halves the time: one column of the query serves four sums that do not wait for each other.
 *
 * @param {Table} table
 * @param {Float64Array} query
 * @param {Float64Array} out filled in
 * @returns {Float64Array} out
 */
function denseDots({ rows, dim, scale, code }, query, out) {
  for (let row = 0; row < rows; row += 4) {
    const first = row * dim
    const second = row + 1 < rows ? first + dim : first
    const third = row + 2 < rows ? second + dim : first
    const fourth = row + 3 < rows ? third + dim : first
    let a = 0
    let b = 0
    let c = 0
    let d = 0
    for (let column = 0; column < dim; column++) {
      const value = query[column]
      a += code[first + column] * value
      b += code[second + column] * value
      c += code[third + column] * value
      d += code[fourth + column] * value
    }
    out[row] = scale[row] * a
    out[row + 1] = scale[row + 1] * b // beyond the end, typed arrays ignore it
    out[row + 2] = scale[row + 2] * c
    out[row + 3] = scale[row + 3] * d
  }
  return out
}

/**
 * @param {Table} table
 * @param {Float64Array} vector
 * @returns {Float64Array}
 */
function snappedQuery({ dim }, vector) {
  const query = vector.slice()
  snap(query, 45 - bitsFor(dim))
  return query
}

/**
 * @param {Table} table
 * @param {Float64Array} scaled weight times scale of each row of the block
 * @param {number} first place of the block
 * @param {number[] | undefined} rows
 * @returns {Float64Array}
 */
function blockSum({ dim, code, column, start }, scaled, first, rows) {
  const sum = new Float64Array(dim)
  for (let j = 0; j < scaled.length; j++) {
    const value = scaled[j]
    if (value === 0) continue
    const row = rows ? rows[first + j] : first + j
    let entry = start[row]
    const end = start[row + 1]
    if (column) for (; entry < end; entry++) sum[column[entry]] += code[entry] * value
    else for (let c = 0; entry < end; c++, entry++) sum[c] += code[entry] * value
  }
  return sum
}
