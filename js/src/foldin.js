/** How much each item of a history adds to the vector of a new user: by its degree, or, since format 1.1, by a weight of its own. */

import { getTensor } from './container.js'
import { AmbiguousEncoding, BadWeight, WrongCount } from './errors.js'
import { LARGEST_WEIGHT } from './golden.js'
import { readLevels, readValues } from './levels.js'

/** @typedef {import('./codecs.js').Counts} Counts */
/** @typedef {import('./container.js').Container} Container */
/** @typedef {import('./profile.js').Profile} Profile */
/** @typedef {{items: number[], weights: number[]}} History distinct items with non-zero weights, in the caller's order */
/** @typedef {(history: History) => {edges: number[], sigma: number}} Insertion weights of a new user's edges and of its own loop */

const COUNT_TYPES = ['U8', 'U16', 'U32']

/**
 * One count for each item.
 *
 * @param {Container} container
 * @param {string} name
 * @param {number} count
 * @returns {Counts}
 */
export function readCounts(container, name, count) {
  return /** @type {Counts} */ (getTensor(container, name, COUNT_TYPES, [count]).data)
}

/**
 * Degrees of all items, and what they or the weights beside them mean for a new user.
 *
 * @param {Container} container
 * @param {Profile} profile
 * @returns {{degree: Counts, insertion: Insertion, degrees: {count: number, level: Uint8Array} | null}}
 */
export function readInsertion(container, { items, selfLoops, sizePower }) {
  if (sizePower === null) {
    const degree = readCounts(container, 'item.degree', items)
    return { degree, insertion: insertionByDegree(degree, selfLoops), degrees: null }
  }
  if (container.entries.has('item.degree')) {
    throw new AmbiguousEncoding('a file with fold-in weights holds its degrees as levels, and this one both ways')
  }
  const degrees = /** @type {Counts} */ (readValues(container, 'item.degree', COUNT_TYPES, 2).data)
  const level = readLevels(container, 'item.degree', items, degrees.length)
  const weight = /** @type {Float32Array} */ (readValues(container, 'item.weight', ['F32']).data)
  if (!weight.every(value => value >= 0 && value <= LARGEST_WEIGHT)) {
    throw new BadWeight(`tensor 'item.weight.value': a weight is not between 0 and ${LARGEST_WEIGHT}`)
  }
  const own = container.entries.has('item.weight.level') ? readLevels(container, 'item.weight', items, weight.length) : level
  if (own === level && weight.length !== degrees.length) {
    throw new WrongCount(`${weight.length} weights for ${degrees.length} levels of degrees`)
  }
  const degree = new Uint32Array(items)
  for (let item = 0; item < items; item++) degree[item] = degrees[level[item]]
  return {
    degree,
    degrees: { count: degrees.length, level },
    insertion({ items: liked, weights }) {
      const size = liked.length
      const share = sizePower === 0 ? 1 : sizePower === 1 ? 1 / size : 1 / Math.sqrt(size)
      return { edges: liked.map((item, j) => weights[j] * (weight[own[item]] * share)), sigma: 0 }
    },
  }
}

/**
 * The weights of a graph's normalisation: one-way edges to the items of a history.
 *
 * @param {ArrayLike<number>} degree
 * @param {boolean} selfLoops
 * @returns {Insertion}
 */
export function insertionByDegree(degree, selfLoops) {
  const loop = selfLoops ? 1 : 0
  return ({ items, weights }) => ({
    edges: items.map((item, j) => weights[j] * (1 / Math.sqrt((items.length + loop) * Math.max(degree[item] + loop, 1)))),
    sigma: loop / (items.length + 1),
  })
}
