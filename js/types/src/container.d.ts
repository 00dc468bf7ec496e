/**
 * Where a tensor lies: offsets count from the start of the payload.
 *
 * @typedef {{dtype: string, shape: number[], begin: number, end: number}} Entry
 */
/**
 * A checked file. Views of its tensors are made when asked for.
 *
 * @typedef {object} Container
 * @property {Uint8Array} bytes starts at a multiple of 8 in its ArrayBuffer
 * @property {number} payloadStart
 * @property {Record<string, string>} metadata
 * @property {Map<string, Entry>} entries
 * @property {import('./memorylimit.js').MemoryLimit} limit what its tables may still take in memory
 */
/**
 * Check everything about a file but its checksum; the order of the checks is that of docs/format.md.
 *
 * @param {ArrayBuffer | Uint8Array} data
 * @returns {Container}
 */
export function parseContainer(data: ArrayBuffer | Uint8Array): Container;
/**
 * Compare the digest written in a file with the one it has.
 *
 * @param {Container} container
 * @param {string} digest
 */
export function checkDigest({ bytes }: Container, digest: string): void;
/**
 * A tensor that must have one of these dtypes and this shape (null: any size), as a view. Float16 comes as its bits and
 * 64-bit integers as pairs of 32-bit words, because JavaScript has no plain array for them.
 *
 * @param {Container} container
 * @param {string} name
 * @param {string[]} dtypes
 * @param {(number | null)[]} shape
 * @returns {{dtype: string, data: Uint8Array | Int8Array | Uint16Array | Uint32Array | Int32Array | Float32Array | Float64Array}}
 */
export function getTensor(container: Container, name: string, dtypes: string[], shape: (number | null)[]): {
    dtype: string;
    data: Uint8Array | Int8Array | Uint16Array | Uint32Array | Int32Array | Float32Array | Float64Array;
};
/**
 * @param {unknown} value
 * @returns {value is Record<string, any>}
 */
export function isObject(value: unknown): value is Record<string, any>;
/**
 * Whether a value is a non-negative integer that a float64 holds exactly.
 *
 * @param {unknown} value
 * @returns {value is number}
 */
export function isCount(value: unknown): value is number;
/**
 * Where a tensor lies: offsets count from the start of the payload.
 */
export type Entry = {
    dtype: string;
    shape: number[];
    begin: number;
    end: number;
};
/**
 * A checked file. Views of its tensors are made when asked for.
 */
export type Container = {
    /**
     * starts at a multiple of 8 in its ArrayBuffer
     */
    bytes: Uint8Array;
    payloadStart: number;
    metadata: Record<string, string>;
    entries: Map<string, Entry>;
    /**
     * what its tables may still take in memory
     */
    limit: import("./memorylimit.js").MemoryLimit;
};
