/** @typedef {import('./codecs.js').Table} Table */
/** @typedef {import('./container.js').Container} Container */
/**
 * @typedef {object} Matrix
 * @property {(vector: Float64Array) => Float64Array} dots inner product of every row with a vector
 * @property {(vector: Float64Array, rows: number[]) => Float64Array} dotsOf the same for a few rows
 * @property {(weights: ArrayLike<number>, rows?: number[]) => Float64Array} rowsum weighted sum of rows, of all if not given
 * @property {(row: number) => Float64Array} row as a dense vector
 * @property {() => Float64Array} lengths of all rows
 */
/**
 * @param {Container} container
 * @param {string} name
 * @param {number} rows
 * @param {number} dim
 * @returns {Matrix}
 */
export function readMatrix(container: Container, name: string, rows: number, dim: number): Matrix;
export type Table = import("./codecs.js").Table;
export type Container = import("./container.js").Container;
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
export type Coded = {
    slices: number;
    /**
     * of the codebook of one slice
     */
    entries: number;
    /**
     * of each row
     */
    scale: Float32Array;
    /**
     * which entry: all rows for the first slice, then for the second ..
     */
    code: Uint8Array;
    /**
     * slices times entries rows
     */
    book: Table;
};
