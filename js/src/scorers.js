/**
 * From a history or a known user to a vector, and from a vector to scores: once for stored item vectors, once for table and
 * graph, once for lists of neighbours. Items are indices here; ids are the business of model.js.
 */

import { gather, spread } from './filter.js'
import { insertionByDegree } from './foldin.js'
import { tableRow, tableRowsum, tableValue } from './table.js'

/** @typedef {import('./codecs.js').Table} Table */
/** @typedef {import('./tables.js').Matrix} Matrix */
/** @typedef {import('./filter.js').GraphFilter} GraphFilter */
/** @typedef {import('./foldin.js').History} History */
/** @typedef {import('./foldin.js').Insertion} Insertion */

/**
 * @typedef {object} Scorer
 * @property {(history: History) => Float64Array} fromHistory vector of a new user
 * @property {(user: number) => Float64Array} known vector of a stored user
 * @property {(vector: Float64Array) => Float64Array} scores of all items
 * @property {(history: History, item: number) => number[]} contributions of each item of the history to the score of one
 * @property {(item: number) => Float64Array} similarities of all items to one
 */

/**
 * Final item vectors are stored; users are folded in, or are the one stored vector.
 *
 * @param {Matrix} score
 * @param {Matrix[]} fold
 * @param {Insertion} insertion
 * @param {Float32Array | null} userVector
 * @returns {Scorer}
 */
export function itemsScorer(score, fold, insertion, userVector) {
  const tables = fold.length ? fold : [score]
  /** @type {Float64Array | undefined} */
  let lengths
  return {
    fromHistory(history) {
      const { edges, sigma } = insertion(history)
      return powerSum(tables, sigma, table => table.rowsum(edges, history.items))
    },
    known: () => Float64Array.from(userVector ?? []),
    scores: vector => score.dots(vector),
    contributions(history, item) {
      const { edges, sigma } = insertion(history)
      const target = score.row(item)
      const reach = powerSum(tables, sigma, table => table.dotsOf(target, history.items))
      return edges.map((edge, j) => edge * reach[j])
    },
    similarities(item) {
      lengths ??= score.lengths()
      return dividedBy(score.dots(score.row(item)), lengths, item)
    },
  }
}

/**
 * The layer-0 table and the graph are stored; final vectors are never built.
 *
 * @param {Matrix} layer0
 * @param {GraphFilter} filter
 * @param {Float64Array} weight coefficients of the filter
 * @param {Float32Array | null} itemNorm
 * @returns {Scorer}
 */
export function fullScorer(layer0, filter, weight, itemNorm) {
  const { graph, selfLoops } = filter
  const insertion = insertionByDegree(graph.itemDegree, selfLoops)
  /** @param {number} item */
  const itemVector = item => layer0.rowsum(spread(filter, weight, { users: null, items: oneHot(graph.items, item) }))
  /** @param {ArrayLike<number>} coefficients @param {Float64Array} vector */
  const reachOf = (coefficients, vector) => gather(filter, coefficients, layer0.dots(vector))
  return {
    fromHistory(history) {
      const { edges, sigma } = insertion(history)
      const items = new Float64Array(graph.items)
      history.items.forEach((item, j) => { items[item] = edges[j] })
      return layer0.rowsum(spread(filter, insertionCoefficients(weight, sigma), { users: null, items }))
    },
    known: user => layer0.rowsum(spread(filter, weight, { users: oneHot(graph.users, user), items: null })),
    scores: vector => reachOf(weight, vector),
    contributions(history, item) {
      const { edges, sigma } = insertion(history)
      const reach = reachOf(insertionCoefficients(weight, sigma), itemVector(item))
      return edges.map((edge, j) => edge * reach[history.items[j]])
    },
    similarities(item) {
      const products = reachOf(weight, itemVector(item))
      return itemNorm ? dividedBy(products, itemNorm, item) : products
    },
  }
}

/**
 * Each item has a list of items and values; the scores of a user, which stand in for a vector, are the weighted sum of the lists
 * of a history.
 *
 * @param {Table} lists
 * @param {Insertion} insertion
 * @returns {Scorer}
 */
export function neighboursScorer(lists, insertion) {
  return {
    fromHistory: history => tableRowsum(lists, insertion(history).edges, history.items),
    known: () => new Float64Array(lists.rows), // such a file holds no users
    scores: vector => vector,
    contributions(history, item) {
      const { edges } = insertion(history)
      return edges.map((edge, j) => edge * tableValue(lists, history.items[j], item))
    },
    similarities: item => tableRow(lists, item),
  }
}

/**
 * Coefficients of the filter seen from a user inserted one-way. Without layers there is nothing to insert into: matrix
 * factorisation averages item rows.
 *
 * @param {Float64Array} weight
 * @param {number} sigma
 * @returns {Float64Array}
 */
function insertionCoefficients(weight, sigma) {
  if (weight.length === 1) return weight
  const shifted = weight.slice(1)
  for (let j = shifted.length - 2; j >= 0; j--) shifted[j] += sigma * shifted[j + 1]
  return shifted
}

/**
 * Sum of sigma^q times a vector of each table.
 *
 * @param {Matrix[]} tables
 * @param {number} sigma
 * @param {(table: Matrix) => Float64Array} vectorOf
 * @returns {Float64Array}
 */
function powerSum(tables, sigma, vectorOf) {
  const total = vectorOf(tables[0])
  let factor = 1
  for (const table of tables.slice(1)) {
    factor *= sigma
    const vector = vectorOf(table)
    for (let c = 0; c < total.length; c++) total[c] += factor * vector[c]
  }
  return total
}

/**
 * @param {number} size
 * @param {number} at
 * @returns {Float64Array}
 */
function oneHot(size, at) {
  const out = new Float64Array(size)
  out[at] = 1
  return out
}

/**
 * Inner products to cosines, 0 where a length is 0.
 *
 * @param {Float64Array} products changed
 * @param {Float64Array | Float32Array} lengths
 * @param {number} item
 * @returns {Float64Array} products
 */
function dividedBy(products, lengths, item) {
  for (let j = 0; j < products.length; j++) {
    const length = lengths[item] * lengths[j]
    products[j] = length > 0 ? products[j] / length : 0
  }
  return products
}
