/** Made-up models of a given size, for tests and benchmarks. */

import { graphTensors, tableTensors, tensor, writeFile } from './writer.js'

/** @typedef {{items: number, users: number, dim: number, perRow: number, edgesPerUser: number}} Sizes */
/** @typedef {'bitmask' | 'byte-index' | 'dense'} Encoding */

export const GOWALLA = { items: 40981, users: 29858, dim: 128, perRow: 16, edgesPerUser: 24 }

/**
 * Random numbers in [0, 1) that are the same everywhere (mulberry32).
 *
 * @param {number} seed
 * @returns {() => number}
 */
export function randomNumbers(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * @param {Sizes} sizes
 * @param {Encoding} encoding
 * @param {{bits?: number, selfLoops?: boolean, foldTables?: number}} [options]
 * @returns {Uint8Array}
 */
export function itemsFile({ items, dim, perRow }, encoding, { bits = 8, selfLoops = false, foldTables = 0 } = {}) {
  const random = randomNumbers(1)
  const tensors = {
    'filter.weight': tensor('F64', Float64Array.of(0.25, 0.25, 0.25, 0.25)),
    'item.degree': tensor('U16', Uint16Array.from({ length: items }, () => 1 + Math.floor(random() * 60))),
  }
  for (const name of ['score', ...Array.from({ length: foldTables }, (_, q) => `fold.${q}`)]) {
    Object.assign(tensors, tableTensors(name, randomRows(random, items, dim, perRow, bits), dim,
      { encoding, bits, scale: randomScale(random, items) }))
  }
  const model = {
    mode: 'items', items, users: 0, dim, self_loops: selfLoops, fold_tables: foldTables, item_ids: 'range', base: 'lightgcn',
  }
  return writeFile(model, tensors)
}

/**
 * Product codes: 256 codebook entries in each slice.
 *
 * @param {Sizes} sizes
 * @param {number} slices
 * @returns {Uint8Array}
 */
export function codesFile({ items, dim }, slices) {
  const random = randomNumbers(3)
  const width = dim / slices
  const entries = slices * 256
  const tensors = {
    'filter.weight': tensor('F64', Float64Array.of(1)),
    'item.degree': tensor('U16', Uint16Array.from({ length: items }, () => 1 + Math.floor(random() * 60))),
    'score.slices': tensor('U16', Uint16Array.of(slices, 256)),
    'score.part.level': tensor('U8', Uint8Array.from({ length: items * slices }, () => Math.floor(256 * random()))),
    ...tableTensors('score.book', randomRows(random, entries, width, width, 8), width,
      { encoding: 'dense', scale: randomScale(random, entries) }),
  }
  const model = { mode: 'items', items, users: 0, dim, self_loops: false, fold_tables: 0, item_ids: 'range', base: 'mf' }
  return writeFile(model, tensors)
}

/**
 * @param {Sizes} sizes
 * @param {Encoding} encoding
 * @param {{bits?: number, selfLoops?: boolean}} [options]
 * @returns {Uint8Array}
 */
export function fullFile({ items, users, dim, perRow, edgesPerUser }, encoding, { bits = 8, selfLoops = false } = {}) {
  const random = randomNumbers(2)
  const rows = randomRows(random, users + items, dim, perRow, bits)
  const lists = Array.from({ length: users }, () => randomSubset(random, items, edgesPerUser))
  const tensors = {
    'filter.weight': tensor('F64', Float64Array.of(0.25, 0.25, 0.25, 0.25)),
    ...tableTensors('layer0', rows, dim, { encoding, bits, scale: randomScale(random, users + items) }),
    ...graphTensors(lists),
  }
  const model = {
    mode: 'full', items, users, dim, self_loops: selfLoops, fold_tables: 0, item_ids: 'range', user_ids: 'range', base: 'lightgcn',
  }
  return writeFile(model, tensors)
}

/**
 * @param {() => number} random
 * @param {number} count
 * @param {number} dim
 * @param {number} perRow
 * @param {number} bits
 * @returns {[number, number][][]}
 */
function randomRows(random, count, dim, perRow, bits) {
  const largest = bits === 8 ? 127 : 7
  return Array.from({ length: count }, () => Array.from(randomSubset(random, dim, perRow), column =>
    /** @type {[number, number]} */ ([column, Math.floor((2 * largest + 1) * random()) - largest])))
}

/**
 * @param {() => number} random
 * @param {number} count
 * @returns {Float32Array}
 */
function randomScale(random, count) {
  return Float32Array.from({ length: count }, () => 0.001 + 0.01 * random())
}

/**
 * Distinct numbers below `limit`, ascending; small ones more often, as popular items come first in a sorted catalogue.
 *
 * @param {() => number} random
 * @param {number} limit
 * @param {number} size
 * @returns {Uint32Array}
 */
function randomSubset(random, limit, size) {
  /** @type {Set<number>} */
  const chosen = new Set()
  while (chosen.size < Math.min(size, limit)) chosen.add(Math.floor(limit * random() ** 1.5))
  return Uint32Array.from(chosen).sort()
}
