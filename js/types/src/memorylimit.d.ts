/**
 * What is left of the memory that a file may take.
 *
 * @typedef {{left: number}} MemoryLimit
 */
/**
 * What a file of so many bytes may take.
 *
 * @param {number} fileBytes
 * @returns {MemoryLimit}
 */
export function limitOf(fileBytes: number): MemoryLimit;
/**
 * Count what is about to be unpacked.
 *
 * @param {MemoryLimit} limit
 * @param {number} size
 * @param {string} what
 */
export function takeMemory(limit: MemoryLimit, size: number, what: string): void;
/**
 * A table is begun.
 *
 * @param {MemoryLimit} limit
 * @param {string} name
 * @param {number} rows
 */
export function takeRows(limit: MemoryLimit, name: string, rows: number): void;
/**
 * Its entries are known: a byte each, and where they name their column, what that takes.
 *
 * @param {MemoryLimit} limit
 * @param {string} name
 * @param {number} entries
 * @param {number} [columns]
 */
export function takeEntries(limit: MemoryLimit, name: string, entries: number, columns?: number): void;
/** Of each item, and of each user where those are stored. */
export const NODE_BYTES: 12;
/** Of each byte of the graph's classes: two edges of four bytes. */
export const CLASS_BYTES: 8;
/**
 * What is left of the memory that a file may take.
 */
export type MemoryLimit = {
    left: number;
};
