/** @typedef {import('./ids.js').Identifier} Identifier */
/** @typedef {Identifier | Iterable<Identifier>} Some ids in an array, a set .., or one id alone */
/**
 * One id.
 *
 * @param {unknown} value
 * @returns {Identifier}
 */
export function identifier(value: unknown): Identifier;
/**
 * Ids of anything that can be gone through; one id alone is a list of it, not its letters.
 *
 * @param {any} given
 * @returns {Identifier[]}
 */
export function identifiers(given: any): Identifier[];
/**
 * A weight for each item of a history, 1 where none are given.
 *
 * @param {any} given
 * @param {number} count
 * @returns {number[]}
 */
export function weightList(given: any, count: number): number[];
/**
 * How many items may be asked for.
 *
 * @param {unknown} k
 */
export function checkLength(k: unknown): void;
export type Identifier = import("./ids.js").Identifier;
/**
 * ids in an array, a set .., or one id alone
 */
export type Some = Identifier | Iterable<Identifier>;
