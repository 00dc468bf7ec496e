/**
 * How much memory a file may take: counted from its lengths before anything is unpacked, in every reader alike. Some encodings
 * take a bit or nothing for what is bytes in memory, so a small file could ask for gigabytes. The count is that of docs/format.md.
 */

import { TooLarge } from './errors.js'

const FACTOR = 10
const CONSTANT = 2 ** 20
const ROW_BYTES = 12
/** Of each item, and of each user where those are stored. */
export const NODE_BYTES = 12
/** Of each byte of the graph's classes: two edges of four bytes. */
export const CLASS_BYTES = 8

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
export function limitOf(fileBytes) {
  return { left: FACTOR * fileBytes + CONSTANT }
}

/**
 * Count what is about to be unpacked.
 *
 * @param {MemoryLimit} limit
 * @param {number} size
 * @param {string} what
 */
export function takeMemory(limit, size, what) {
  limit.left -= size
  if (limit.left < 0) {
    throw new TooLarge(`${what} would take more memory than ${FACTOR} times the file and ${CONSTANT} bytes: no model does, so it was not opened`)
  }
}

/**
 * A table is begun.
 *
 * @param {MemoryLimit} limit
 * @param {string} name
 * @param {number} rows
 */
export function takeRows(limit, name, rows) {
  takeMemory(limit, ROW_BYTES * rows, `table '${name}': ${rows} rows`)
}

/**
 * Its entries are known: a byte each, and where they name their column, what that takes.
 *
 * @param {MemoryLimit} limit
 * @param {string} name
 * @param {number} entries
 * @param {number} [columns]
 */
export function takeEntries(limit, name, entries, columns) {
  const wide = columns === undefined ? 0 : columns <= 2 ** 8 ? 1 : columns <= 2 ** 16 ? 2 : 4
  takeMemory(limit, entries * (1 + wide), `table '${name}': ${entries} entries`)
}
