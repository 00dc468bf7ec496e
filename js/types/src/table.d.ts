/**
 * Inner product of every row with a vector.
 *
 * @param {Table} table
 * @param {Float64Array} vector
 * @returns {Float64Array}
 */
export function tableDots(table: Table, vector: Float64Array): Float64Array;
/**
 * Inner products of a few rows with a vector.
 *
 * @param {Table} table
 * @param {Float64Array} vector
 * @param {number[]} rows
 * @returns {Float64Array}
 */
export function tableDotsOf(table: Table, vector: Float64Array, rows: number[]): Float64Array;
/**
 * Inner products of as many rows as fit, from one on.
 *
 * @param {Table} table
 * @param {Float64Array} vector
 * @param {number} first
 * @param {Float64Array} out filled in
 */
export function tableDotsFrom(table: Table, vector: Float64Array, first: number, out: Float64Array): void;
/**
 * Weighted sum of rows, in blocks whose sums are exact.
 *
 * @param {Table} table
 * @param {ArrayLike<number>} weights one for each row in `rows`
 * @param {number[]} [rows] all rows if not given
 * @returns {Float64Array}
 */
export function tableRowsum(table: Table, weights: ArrayLike<number>, rows?: number[]): Float64Array;
/**
 * Weighted sum of as many rows as there are weights, at most BLOCK_ROWS, from one on.
 *
 * @param {Table} table
 * @param {Float64Array} weights
 * @param {number} first
 * @param {Float64Array} out filled in
 */
export function tableSumFrom(table: Table, weights: Float64Array, first: number, out: Float64Array): void;
/**
 * One row as a dense vector.
 *
 * @param {Table} table
 * @param {number} row
 * @returns {Float64Array}
 */
export function tableRow({ dim, scale, code, column, start }: Table, row: number): Float64Array;
/**
 * One entry; 0 where the row has none there.
 *
 * @param {Table} table
 * @param {number} row
 * @param {number} wanted
 * @returns {number}
 */
export function tableValue({ scale, code, column, start }: Table, row: number, wanted: number): number;
/**
 * Euclidean length of every row.
 *
 * @param {Table} table
 * @returns {Float64Array}
 */
export function tableLengths({ rows, scale, code, start }: Table): Float64Array;
/** @typedef {import('./codecs.js').Table} Table */
/** Rows whose weighted sum is exact. */
export const BLOCK_ROWS: 4096;
export type Table = import("./codecs.js").Table;
