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
export function readTable(container: Container, name: string, rows: number, dim: number): Table;
/**
 * Finite, non-negative numbers stored as F16 or F32.
 *
 * @param {Container} container
 * @param {string} name
 * @param {number} count
 * @returns {Float32Array}
 */
export function readScale(container: Container, name: string, count: number): Float32Array;
/**
 * Bits after the last used one in each row of a bit set must be 0.
 *
 * @param {string} name
 * @param {Uint8Array} bits
 * @param {number} used bits of a row
 */
export function checkPadding(name: string, bits: Uint8Array, used: number): void;
/**
 * Float16 bits to numbers.
 *
 * @param {Uint16Array} bits
 * @returns {Float32Array}
 */
export function widenHalves(bits: Uint16Array): Float32Array;
/**
 * Where each row begins, and the end; null if that does not fit 32 bits and so cannot be right.
 *
 * @param {Counts} counts one for each row, or one for all
 * @param {number} rows
 * @returns {Uint32Array | null}
 */
export function runningSum(counts: Counts, rows: number): Uint32Array | null;
export type Container = import("./container.js").Container;
export type Counts = Uint8Array | Uint16Array | Uint32Array;
export type Table = {
    rows: number;
    dim: number;
    /**
     * of each row
     */
    scale: Float32Array | Float64Array;
    /**
     * of each entry, in row order
     */
    code: Int8Array;
    /**
     * of each entry; null where every row holds all columns in order
     */
    column: Uint8Array | Uint16Array | Uint32Array | null;
    /**
     * where each row begins, and the end
     */
    start: Uint32Array;
};
/**
 * what there is of codes, before they are read
 */
export type StoredCodes = {
    name: string;
    perByte: number;
    length: number;
};
export type Positions = {
    scale: Float32Array;
    column: Table["column"];
    start: Uint32Array;
};
