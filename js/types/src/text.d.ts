/** @typedef {import('./container.js').Container} Container */
/** @typedef {{count: number, offset: Uint32Array, text: Uint8Array, decoder: TextDecoder}} TextTable */
/**
 * Whether any tensor of a text table is there.
 *
 * @param {Container} container
 * @param {string} name
 * @returns {boolean}
 */
export function hasText({ entries }: Container, name: string): boolean;
/**
 * Check a text table of `count` strings (any number if null).
 *
 * @param {Container} container
 * @param {string} name
 * @param {number | null} count
 * @returns {TextTable}
 */
export function readText(container: Container, name: string, count: number | null): TextTable;
/**
 * String j of a table.
 *
 * @param {TextTable} table
 * @param {number} j
 * @returns {string}
 */
export function textAt({ offset, text, decoder }: TextTable, j: number): string;
/**
 * Order of a string of a table and some bytes, by their bytes.
 *
 * @param {TextTable} table
 * @param {number} j
 * @param {Uint8Array} other
 * @param {number} [from]
 * @param {number} [to] the part of `other` to compare with
 * @returns {number} negative, 0 or positive
 */
export function compareText({ offset, text }: TextTable, j: number, other: Uint8Array, from?: number, to?: number): number;
export type Container = import("./container.js").Container;
export type TextTable = {
    count: number;
    offset: Uint32Array;
    text: Uint8Array;
    decoder: TextDecoder;
};
