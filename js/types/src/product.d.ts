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
export function readCodes(container: Container, name: string, rows: number, dim: number): Matrix;
export type Table = import("./codecs.js").Table;
export type Container = import("./container.js").Container;
export type Matrix = import("./tables.js").Matrix;
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
