/** A number for each item that is added to its score, whoever asks, since format 1.2: how popular it is, say. */

import { AmbiguousEncoding, BadTerm, WrongCount } from './errors.js'
import { readLevels, readValues } from './levels.js'
import { takeMemory } from './memorylimit.js'

/** @typedef {import('./container.js').Container} Container */
/** @typedef {{value: Float32Array, level: Uint8Array}} Terms a few values, and which of them each item has */

const LARGEST_TERM = 1e6
const LEVEL_BYTES = 1

/**
 * Under what name the coefficients of the filter are stored: another one in files with terms, so that a reader that would not
 * add them refuses the file.
 *
 * @param {Container} container
 * @returns {string}
 */
export function coefficientsName({ entries }) {
  if (!entries.has('item.term.value')) return 'filter.weight'
  if (entries.has('filter.weight')) {
    throw new AmbiguousEncoding("a file with terms of items holds 'filter.coefficient', and this one 'filter.weight' as well")
  }
  return 'filter.coefficient'
}

/**
 * @param {Container} container
 * @param {number} items
 * @param {{count: number, level: Uint8Array} | null} degrees levels of the degrees, where they are stored so
 * @returns {Terms | null}
 */
export function readTerms(container, items, degrees) {
  if (!container.entries.has('item.term.value')) return null
  const value = /** @type {Float32Array} */ (readValues(container, 'item.term', ['F32']).data)
  if (!value.every(term => Math.abs(term) <= LARGEST_TERM)) {
    throw new BadTerm(`tensor 'item.term.value': a term is not finite or beyond ${LARGEST_TERM}`)
  }
  if (!degrees || container.entries.has('item.term.level')) {
    takeMemory(container.limit, LEVEL_BYTES * items, `terms of ${items} items`)
    return { value, level: readLevels(container, 'item.term', items, value.length) }
  }
  if (value.length !== degrees.count) throw new WrongCount(`${value.length} terms for ${degrees.count} levels of degrees`)
  return { value, level: degrees.level }
}

/**
 * @param {Terms | null} terms
 * @param {number} item
 * @returns {number} 0 where the file has none
 */
export function termOf(terms, item) {
  return terms ? terms.value[terms.level[item]] : 0
}

/**
 * Scores of all items with their terms.
 *
 * @param {Terms | null} terms
 * @param {Float64Array} scores
 * @returns {Float64Array}
 */
export function withTerms(terms, scores) {
  if (!terms) return scores
  const { value, level } = terms
  const out = new Float64Array(scores.length)
  for (let item = 0; item < out.length; item++) out[item] = scores[item] + value[level[item]]
  return out
}
