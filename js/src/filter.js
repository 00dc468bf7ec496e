/**
 * The polynomial graph filter on one vector: sum_k w_k S^k x, S the normalised adjacency, never a dense matrix.
 *
 * A vector over the nodes has a users' part and an items' part; null stands for a part that is zero or that nobody asks
 * for. Without self-loops each step then touches one side of the graph only.
 */

import { bitsFor, snap } from './exact.js'

/** @typedef {import('./graph.js').Graph} Graph */
/** @typedef {{users: Float64Array | null, items: Float64Array | null}} NodeVector */

/**
 * @typedef {object} GraphFilter
 * @property {Graph} graph
 * @property {boolean} selfLoops
 * @property {Float64Array} userNorm degree^-1/2
 * @property {Float64Array} itemNorm
 * @property {number} gridBits
 */

/**
 * Norms, and the grid on which sums over neighbours are exact.
 *
 * @param {Graph} graph
 * @param {boolean} selfLoops
 * @returns {GraphFilter}
 */
export function graphFilter(graph, selfLoops) {
  const loop = selfLoops ? 1 : 0
  const userNorm = new Float64Array(graph.users)
  let largest = 0
  for (let user = 0; user < graph.users; user++) {
    const degree = graph.start[user + 1] - graph.start[user]
    userNorm[user] = nodeNorm(degree + loop)
    if (degree > largest) largest = degree
  }
  const itemNorm = new Float64Array(graph.items)
  for (let item = 0; item < graph.items; item++) {
    itemNorm[item] = nodeNorm(graph.itemDegree[item] + loop)
    if (graph.itemDegree[item] > largest) largest = graph.itemDegree[item]
  }
  return { graph, selfLoops, userNorm, itemNorm, gridBits: 52 - bitsFor(largest + 1) }
}

/**
 * The filter by powers: cheap when x lives on one side of the graph. Users come before items in the result.
 *
 * @param {GraphFilter} filter
 * @param {ArrayLike<number>} coefficients
 * @param {NodeVector} x
 * @returns {Float64Array}
 */
export function spread(filter, coefficients, x) {
  const { users, items } = filter.graph
  const total = new Float64Array(users + items)
  const usersTotal = total.subarray(0, users)
  const itemsTotal = total.subarray(users)
  for (let k = 0; k < coefficients.length; k++) {
    if (k > 0) x = filterStep(filter, x, true, true)
    addScaled(usersTotal, x.users, coefficients[k])
    addScaled(itemsTotal, x.items, coefficients[k])
  }
  return total
}

/**
 * The items' part of the filter, by Horner's rule: cheap because one side is wanted at each step.
 *
 * @param {GraphFilter} filter
 * @param {ArrayLike<number>} coefficients
 * @param {Float64Array} x users before items
 * @returns {Float64Array}
 */
export function gather(filter, coefficients, x) {
  const { users: userCount } = filter.graph
  const own = { users: x.subarray(0, userCount), items: x.subarray(userCount) }
  const last = coefficients.length - 1
  /** @type {NodeVector} */
  let h = { users: null, items: null }
  for (let k = last; k >= 0; k--) {
    const wantItems = filter.selfLoops || k % 2 === 0
    const wantUsers = k > 0 && (filter.selfLoops || k % 2 === 1)
    if (k < last) h = filterStep(filter, h, wantUsers, wantItems)
    h = {
      users: wantUsers ? addScaled(h.users ?? new Float64Array(userCount), own.users, coefficients[k]) : null,
      items: wantItems ? addScaled(h.items ?? new Float64Array(own.items.length), own.items, coefficients[k]) : null,
    }
  }
  return /** @type {Float64Array} */ (h.items)
}

/**
 * @param {number} degree
 * @returns {number}
 */
function nodeNorm(degree) {
  return degree > 0 ? 1 / Math.sqrt(degree) : 0
}

/**
 * S x, only the parts asked for.
 *
 * @param {GraphFilter} filter
 * @param {NodeVector} x
 * @param {boolean} wantUsers
 * @param {boolean} wantItems
 * @returns {NodeVector}
 */
function filterStep({ graph, selfLoops, userNorm, itemNorm, gridBits }, x, wantUsers, wantItems) {
  const fromUsers = normalised(x.users, userNorm, gridBits)
  const fromItems = normalised(x.items, itemNorm, gridBits)
  const users = wantUsers && fromItems ? sumToUsers(graph, fromItems) : null
  const items = wantItems && fromUsers ? sumToItems(graph, fromUsers) : null
  return {
    users: wantUsers ? closeStep(users, selfLoops ? fromUsers : null, userNorm) : null,
    items: wantItems ? closeStep(items, selfLoops ? fromItems : null, itemNorm) : null,
  }
}

/**
 * @param {Float64Array | null} part
 * @param {Float64Array} norm
 * @param {number} bits
 * @returns {Float64Array | null}
 */
function normalised(part, norm, bits) {
  if (!part) return null
  const out = new Float64Array(part.length)
  for (let n = 0; n < out.length; n++) out[n] = part[n] * norm[n]
  return snap(out, bits) ? out : null
}

/**
 * Add the self-loops and normalise.
 *
 * @param {Float64Array | null} sums overwritten
 * @param {Float64Array | null} own
 * @param {Float64Array} norm
 * @returns {Float64Array | null}
 */
function closeStep(sums, own, norm) {
  if (!sums && !own) return null
  const out = sums ?? new Float64Array(norm.length)
  if (own) for (let n = 0; n < out.length; n++) out[n] += own[n]
  for (let n = 0; n < out.length; n++) out[n] *= norm[n]
  return out
}

/**
 * @param {Graph} graph
 * @param {Float64Array} values of the items
 * @returns {Float64Array}
 */
function sumToUsers({ users, start, item }, values) {
  const out = new Float64Array(users)
  for (let user = 0, edge = 0; user < users; user++) {
    let sum = 0
    for (const end = start[user + 1]; edge < end; edge++) sum += values[item[edge]]
    out[user] = sum
  }
  return out
}

/**
 * @param {Graph} graph
 * @param {Float64Array} values of the users
 * @returns {Float64Array}
 */
function sumToItems({ users, items, start, item }, values) {
  const out = new Float64Array(items)
  for (let user = 0; user < users; user++) {
    const value = values[user]
    if (value === 0) continue
    for (let edge = start[user], end = start[user + 1]; edge < end; edge++) out[item[edge]] += value
  }
  return out
}

/**
 * @param {Float64Array} total changed
 * @param {Float64Array | null} part
 * @param {number} factor
 * @returns {Float64Array} total
 */
function addScaled(total, part, factor) {
  if (part) for (let n = 0; n < total.length; n++) total[n] += factor * part[n]
  return total
}
