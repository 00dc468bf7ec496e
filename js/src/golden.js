/** Golden queries: made-up questions with the answers the writer got, so that every reader can test itself. */

import { isCount, isObject } from './container.js'
import { BadGolden, SelfTestFailed } from './errors.js'
import { parseJson } from './json.js'

/** @typedef {import('./profile.js').Profile} Profile */

/**
 * @typedef {object} GoldenQuery
 * @property {number | null} user an index
 * @property {number[]} history item indices
 * @property {number[]} weights
 * @property {number[]} items the top that belongs to it
 * @property {number[]} scores
 */

/** Weights of a history beyond this are refused, so that no sum overflows. */
export const LARGEST_WEIGHT = 1e6
const MOST_GOLDEN = 64
const GOLDEN_TOLERANCE = 1e-6

/**
 * Check the form of the golden queries; their answers are checked by the self-test.
 *
 * @param {Record<string, string>} metadata
 * @param {Profile} profile
 * @returns {GoldenQuery[]}
 */
export function readGolden(metadata, profile) {
  if (!Object.hasOwn(metadata, 'golden')) return []
  let raw
  try {
    raw = parseJson(metadata.golden)
  } catch (error) {
    throw new BadGolden(`__metadata__.golden: ${error instanceof Error ? error.message : error}`)
  }
  if (!Array.isArray(raw) || raw.length > MOST_GOLDEN) {
    throw new BadGolden(`__metadata__.golden is not a list of at most ${MOST_GOLDEN} queries`)
  }
  return raw.map(query => readGoldenQuery(query, profile))
}

/**
 * The same scores place by place, and the same items except where scores are closer than the tolerance.
 *
 * @template {number | string} Id
 * @param {string} query name for the message
 * @param {{items: Id[], scores: number[]}} expected
 * @param {Id[]} items
 * @param {number[]} scores
 */
export function compareGolden(query, expected, items, scores) {
  if (items.length !== expected.items.length) {
    throw new SelfTestFailed(`${query}: ${items.length} items, expected ${expected.items.length}`)
  }
  const tolerance = GOLDEN_TOLERANCE * expected.scores.reduce((most, score) => Math.max(most, Math.abs(score)), 0)
  expected.scores.forEach((score, place) => {
    if (!(Math.abs(scores[place] - score) <= tolerance)) {
      throw new SelfTestFailed(`${query}: score ${scores[place]} in place ${place}, expected ${score}`)
    }
  })
  /** @param {number} a @param {number} b */
  const near = (a, b) => Math.abs(scores[a] - scores[b]) <= tolerance
  expected.items.forEach((item, place) => {
    const last = place === items.length - 1 // may tie with one that was cut off
    if (item !== items[place] && !last && !near(place, place + 1) && !near(place, place - 1)) {
      throw new SelfTestFailed(`${query}: item ${items[place]} in place ${place}, expected ${item}`)
    }
  })
}

/**
 * @param {unknown} raw
 * @param {Profile} profile
 * @returns {GoldenQuery}
 */
function readGoldenQuery(raw, profile) {
  if (!isObject(raw) || Object.hasOwn(raw, 'user') === Object.hasOwn(raw, 'history')) {
    throw new BadGolden('a golden query needs either a user or a history')
  }
  const items = goldenIndices(raw.items, profile.items)
  const scores = goldenNumbers(raw.scores, items.length)
  if (items.length > MOST_GOLDEN) throw new BadGolden(`a golden query lists more than ${MOST_GOLDEN} items`)
  if (Object.hasOwn(raw, 'user')) {
    const known = profile.mode === 'full' ? profile.users : profile.mode === 'personal' ? 1 : 0
    const [user] = goldenIndices([raw.user], known)
    return { user, history: [], weights: [], items, scores }
  }
  const history = goldenIndices(raw.history, profile.items)
  const weights = Object.hasOwn(raw, 'weights') ? goldenNumbers(raw.weights, history.length) : history.map(() => 1)
  if (weights.some(weight => Math.abs(weight) > LARGEST_WEIGHT)) {
    throw new BadGolden(`a golden query holds a weight beyond ${LARGEST_WEIGHT}`)
  }
  return { user: null, history, weights, items, scores }
}

/**
 * @param {unknown} raw
 * @param {number} limit
 * @returns {number[]}
 */
function goldenIndices(raw, limit) {
  if (!Array.isArray(raw) || !raw.every(index => isCount(index) && index < limit)) {
    throw new BadGolden('a golden query holds something else than indices, or one that is out of range')
  }
  return raw
}

/**
 * @param {unknown} raw
 * @param {number} length
 * @returns {number[]}
 */
function goldenNumbers(raw, length) {
  if (!Array.isArray(raw) || raw.length !== length || !raw.every(Number.isFinite)) {
    throw new BadGolden('a golden query holds something else than finite numbers, or another number of them')
  }
  return raw
}
