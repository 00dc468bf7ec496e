/**
 * @param {Container} container
 * @param {string} name
 * @param {number} rows
 * @param {number} dim
 * @returns {Matrix}
 */
export function readMatrix(container: Container, name: string, rows: number, dim: number): Matrix;
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
export const READERS: Record<string, ReadTable>;
export type Table = import("./codecs.js").Table;
export type Container = import("./container.js").Container;
/**
 * what a table is good for
 */
export type Matrix = {
    /**
     * inner product of every row with a vector
     */
    dots: (vector: Float64Array) => Float64Array;
    /**
     * the same for a few rows
     */
    dotsOf: (vector: Float64Array, rows: number[]) => Float64Array;
    /**
     * weighted sum of rows, of all if not given
     */
    rowsum: (weights: ArrayLike<number>, rows?: number[]) => Float64Array;
    /**
     * as a dense vector
     */
    row: (row: number) => Float64Array;
    /**
     * of all rows
     */
    lengths: () => Float64Array;
};
export type ReadTable = (container: Container, name: string, rows: number, dim: number) => Table | Matrix;
