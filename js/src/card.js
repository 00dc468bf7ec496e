/** The model card: what a file holds, how big its parts are, and whose data is inside. Keys are those of the Python reader. */

import { DIGEST_END, DIGEST_START } from './sha256.js'

/** @typedef {import('./contents.js').Parts} Parts */

/** @type {[string, string][]} */
const SECTIONS = [
  ['score.', 'item vectors'],
  ['lists.', 'neighbour lists'],
  ['fold.', 'fold-in vectors'],
  ['layer0.', 'layer-0 table'],
  ['graph.', 'graph'],
  ['item.id', 'item ids'],
  ['user.id', 'user ids'],
  ['item.title', 'titles'],
  ['tag.', 'tags'],
  ['item.tags', 'tags'],
  ['item.degree', 'degrees and popularity'],
  ['item.weight', 'fold-in weights'],
  ['item.term', 'terms of items'],
  ['item.popularity', 'degrees and popularity'],
  ['user.', 'one user'],
]
/** @type {Record<string, string>} */
const DATA_INSIDE = {
  items: 'no interaction list; vectors of items with very few users may hint at those users',
  full: 'the whole interaction history of every user in the file',
  neighbours: 'no interaction list; lists of items with very few users may hint at those users',
  personal: 'the vector of one user, and the items that user has seen where they are stored',
}

/**
 * @typedef {object} Card
 * @property {string} mode
 * @property {string} base
 * @property {number} items
 * @property {number} users
 * @property {number} dim
 * @property {boolean} self_loops
 * @property {string} format_version
 * @property {string} sha256
 * @property {number} bytes
 * @property {Record<string, number>} sections bytes of each; they add up to the file
 * @property {string} item_ids
 * @property {boolean} titles
 * @property {number} tags
 * @property {number} golden_queries
 * @property {string} data_inside
 * @property {Record<string, any>} card what the producer wrote
 */

/**
 * Everything a page would show about a file, as plain values.
 *
 * @param {Parts} parts
 * @returns {Card}
 */
export function describeModel({ container, profile, producerCard, titles, tags, golden }) {
  const { bytes, metadata } = container
  return {
    mode: profile.mode,
    base: profile.base,
    items: profile.items,
    users: profile.users,
    dim: profile.dim,
    self_loops: profile.selfLoops,
    format_version: metadata.version,
    sha256: String.fromCharCode(...bytes.subarray(DIGEST_START, DIGEST_END)),
    bytes: bytes.length,
    sections: sectionBytes(container),
    item_ids: profile.itemIds,
    titles: titles !== null,
    tags: tags ? tags.names.count : 0,
    golden_queries: golden.length,
    data_inside: DATA_INSIDE[profile.mode],
    card: producerCard,
  }
}

/**
 * @param {import('./container.js').Container} container
 * @returns {Record<string, number>}
 */
function sectionBytes({ payloadStart, entries }) {
  /** @type {Record<string, number>} */
  const sizes = { header: payloadStart }
  for (const [name, { begin, end }] of entries) {
    const section = SECTIONS.find(([prefix]) => name.startsWith(prefix))?.[1] ?? 'other'
    sizes[section] = (sizes[section] ?? 0) + end - begin
  }
  return sizes
}
