/** Who interacted with what: ascending items of each user as gaps, a gap as a 4-bit class and extra bits. */

import { runningSum } from './codecs.js'
import { getTensor } from './container.js'
import { BadGraph, NonzeroPadding, WrongCount } from './errors.js'

/** @typedef {import('./container.js').Container} Container */
/** @typedef {import('./codecs.js').Counts} Counts */

/**
 * @typedef {object} Graph
 * @property {number} users
 * @property {number} items
 * @property {Uint32Array} start where each user's items begin, and the end
 * @property {Uint16Array | Uint32Array} item of each edge
 * @property {Uint32Array} itemDegree
 */

const WIDEST_GAP = 24

/**
 * Check and decode the graph; two bytes an edge once in memory, four beyond 65,536 items.
 *
 * @param {Container} container
 * @param {number} users
 * @param {number} items
 * @returns {Graph}
 */
export function readGraph(container, users, items) {
  const count = /** @type {Counts} */ (getTensor(container, 'graph.count', ['U8', 'U16', 'U32'], [users]).data)
  const width = /** @type {Uint8Array} */ (getTensor(container, 'graph.width', ['U8'], [16]).data)
  const classes = /** @type {Uint8Array} */ (getTensor(container, 'graph.class', ['U8'], [null]).data)
  const extra = /** @type {Uint8Array} */ (getTensor(container, 'graph.extra', ['U8'], [null]).data)
  const widest = Math.max(...width)
  if (widest > WIDEST_GAP) throw new BadGraph(`a class of gaps is ${widest} bits wide, at most ${WIDEST_GAP} allowed`)
  const start = runningSum(count, users)
  if (!start || classes.length !== Math.ceil(start[users] / 2)) {
    throw new WrongCount(`'graph.class' has ${classes.length} bytes, which are not those of all edges`)
  }
  checkExtra(width, classes, extra, start[users])
  const item = items > 65536 ? new Uint32Array(start[users]) : new Uint16Array(start[users])
  const itemDegree = new Uint32Array(items)
  decodeGaps(width, classes, extra, start, item, itemDegree)
  return { users, items, start, item, itemDegree }
}

/**
 * The length and the padding of both streams.
 *
 * @param {Uint8Array} width
 * @param {Uint8Array} classes
 * @param {Uint8Array} extra
 * @param {number} edges
 */
function checkExtra(width, classes, extra, edges) {
  if (edges % 2 && classes[classes.length - 1] >> 4) {
    throw new NonzeroPadding("tensor 'graph.class': the unused half of the last byte is set")
  }
  let bits = 0
  for (let j = 0; j < classes.length; j++) bits += width[classes[j] & 15] + width[classes[j] >> 4]
  if (edges % 2) bits -= width[0] // the unused half
  if (extra.length !== Math.ceil(bits / 8)) throw new WrongCount(`'graph.extra' has ${extra.length} bytes for ${bits} bits`)
  if (bits % 8 && extra[extra.length - 1] >> bits % 8) {
    throw new NonzeroPadding("tensor 'graph.extra': bits beyond the last are set")
  }
}

/**
 * @param {Uint8Array} width
 * @param {Uint8Array} classes
 * @param {Uint8Array} extra
 * @param {Uint32Array} start
 * @param {Uint16Array | Uint32Array} item filled in
 * @param {Uint32Array} itemDegree filled in
 */
function decodeGaps(width, classes, extra, start, item, itemDegree) {
  const base = new Uint32Array(17)
  for (let c = 0; c < 16; c++) base[c + 1] = base[c] + (1 << width[c])
  const items = itemDegree.length
  let pool = 0
  let pooled = 0
  let at = 0
  for (let user = 0, edge = 0; user + 1 < start.length; user++) {
    let next = 0 // the smallest item that may follow
    for (const end = start[user + 1]; edge < end; edge++) {
      const kind = edge & 1 ? classes[edge >>> 1] >> 4 : classes[edge >>> 1] & 15
      const bits = width[kind]
      for (; pooled < bits; pooled += 8) pool |= extra[at++] << pooled
      next += base[kind] + (pool & ((1 << bits) - 1))
      pool >>>= bits
      pooled -= bits
      if (next >= items) throw new BadGraph(`an edge of user ${user} leads to item ${next} of ${items}`)
      item[edge] = next
      itemDegree[next++]++
    }
  }
}
