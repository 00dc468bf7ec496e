/** What a caller may hand over as ids, weights and sizes. */

import { BadQuery } from './errors.js'
import { LARGEST_WEIGHT } from './golden.js'

/** @typedef {import('./ids.js').Identifier} Identifier */
/** @typedef {Identifier | Iterable<Identifier>} Some ids in an array, a set .., or one id alone */

/**
 * One id.
 *
 * @param {unknown} value
 * @returns {Identifier}
 */
export function identifier(value) {
  if (typeof value === 'string' || Number.isSafeInteger(value)) return /** @type {Identifier} */ (value)
  throw new BadQuery(`${typeof value === 'number' ? value : `a value of type ${typeof value}`} is no id: ids are strings or whole numbers`)
}

/**
 * Ids of anything that can be gone through; one id alone is a list of it, not its letters.
 *
 * @param {any} given
 * @returns {Identifier[]}
 */
export function identifiers(given) {
  if (given === undefined || given === null) return []
  if (typeof given === 'string' || typeof given[Symbol.iterator] !== 'function') return [identifier(given)]
  return Array.from(given, identifier)
}

/**
 * A weight for each item of a history, 1 where none are given.
 *
 * @param {any} given
 * @param {number} count
 * @returns {number[]}
 */
export function weightList(given, count) {
  if (given === undefined || given === null) return new Array(count).fill(1)
  const weights = typeof given[Symbol.iterator] === 'function' ? Array.from(given) : []
  if (weights.length !== count || !weights.every(weight => typeof weight === 'number' && Math.abs(weight) <= LARGEST_WEIGHT)) {
    throw new BadQuery(`${count} items in the history need as many weights, numbers of at most ${LARGEST_WEIGHT}`)
  }
  return weights
}

/**
 * How many items may be asked for.
 *
 * @param {unknown} k
 */
export function checkLength(k) {
  if (!Number.isInteger(k) || Number(k) < 1) throw new BadQuery(`k is ${typeof k === 'number' ? k : `a ${typeof k}`}, expected a whole number from 1`)
}
