/** Everything a model file holds, checked in the order of docs/format.md. */

import { checkPadding, readScale } from './codecs.js'
import { getTensor } from './container.js'
import { BadCoefficients, BadVector, IndexOutOfRange, WrongCount } from './errors.js'
import { graphFilter } from './filter.js'
import { readCounts, readInsertion } from './foldin.js'
import { readGolden } from './golden.js'
import { readGraph } from './graph.js'
import { readIds } from './ids.js'
import { readObject, readProfile } from './profile.js'
import { CLASS_BYTES, NODE_BYTES, takeMemory } from './memorylimit.js'
import { readRows } from './rows.js'
import { fullScorer, itemsScorer, neighboursScorer } from './scorers.js'
import { readMatrix } from './tables.js'
import { coefficientsName, readTerms } from './term.js'
import { hasText, readText } from './text.js'

/** @typedef {import('./codecs.js').Counts} Counts */
/** @typedef {import('./container.js').Container} Container */
/** @typedef {import('./graph.js').Graph} Graph */
/** @typedef {import('./ids.js').Ids} Ids */
/** @typedef {import('./profile.js').Profile} Profile */
/** @typedef {import('./scorers.js').Scorer} Scorer */
/** @typedef {import('./text.js').TextTable} TextTable */
/** @typedef {{names: TextTable, bits: Uint8Array, width: number}} Tags a row of `width` bytes for each item */

/**
 * @typedef {object} Parts
 * @property {Container} container
 * @property {Profile} profile
 * @property {Record<string, any>} producerCard
 * @property {Scorer} scorer
 * @property {import('./term.js').Terms | null} terms what is added to the scores of the items
 * @property {Graph | null} graph
 * @property {ArrayLike<number>} popularity
 * @property {ArrayLike<number>} seen items of the one stored user
 * @property {TextTable | null} titles
 * @property {Tags | null} tags
 * @property {Ids} ids
 * @property {Ids | null} userIds
 * @property {import('./golden.js').GoldenQuery[]} golden
 */

/**
 * @param {Container} container whose checksum is right
 * @returns {Parts}
 */
export function readParts(container) {
  const { metadata, entries } = container
  const profile = readProfile(metadata)
  const producerCard = Object.hasOwn(metadata, 'card') ? readObject(metadata, 'card') : {}
  checkRows(container, profile)
  const weight = readCoefficients(container)
  const core = profile.mode === 'full' ? readFull(container, profile, weight)
    : profile.mode === 'neighbours' ? readNeighbours(container, profile) : readItems(container, profile)
  const terms = readTerms(container, profile.items, core.degrees)
  const seen = profile.mode === 'personal' && entries.has('user.seen') ? readSeen(container, profile.items) : []
  const popularity = entries.has('item.popularity') ? readCounts(container, 'item.popularity', profile.items) : core.degree
  return {
    container,
    profile,
    producerCard,
    graph: core.graph,
    popularity,
    seen,
    scorer: core.scorer,
    terms,
    titles: hasText(container, 'item.title') ? readText(container, 'item.title', profile.items) : null,
    tags: readTags(container, profile.items),
    ids: readIds(container, 'item.id', profile.itemIds, profile.items),
    userIds: profile.userIds ? readIds(container, 'user.id', profile.userIds, profile.users) : null,
    golden: readGolden(metadata, profile),
  }
}

/** @typedef {{count: number, level: Uint8Array} | null} DegreeLevels which of so many degrees each item has, where they are stored so */
/** @typedef {{degree: Counts, degrees: DegreeLevels, graph: Graph | null, scorer: Scorer}} Core what scoring needs */

/**
 * @param {Container} container
 * @param {Profile} profile
 * @returns {Core}
 */
function readItems(container, profile) {
  const { mode, items, dim, foldTables } = profile
  const score = readMatrix(container, 'score', items, dim)
  const fold = Array.from({ length: foldTables }, (_, q) => readMatrix(container, `fold.${q}`, items, dim))
  const { degree, degrees, insertion } = readInsertion(container, profile)
  const vector = mode === 'personal' ? readVector(container, dim) : null
  return { degree, degrees, graph: null, scorer: itemsScorer(score, fold, insertion, vector) }
}

/**
 * @param {Container} container
 * @param {Profile} profile
 * @returns {Core}
 */
function readNeighbours(container, profile) {
  const lists = readRows(container, 'lists', profile.items, profile.items)
  const { degree, degrees, insertion } = readInsertion(container, profile)
  return { degree, degrees, graph: null, scorer: neighboursScorer(lists, insertion) }
}

/**
 * Levels may take no bytes, vectors in memory do: no file has more rows than bytes, and few have as many.
 *
 * @param {Container} container
 * @param {Profile} profile
 */
function checkRows({ bytes, payloadStart, entries, limit }, { mode, items, users }) {
  const rows = items + (mode === 'full' ? users : 0)
  if (rows > bytes.length - payloadStart) throw new WrongCount(`${rows} rows cannot be in ${bytes.length - payloadStart} bytes`)
  takeMemory(limit, NODE_BYTES * rows, `scores and degrees of ${rows} rows`)
  const graph = entries.get('graph.class')
  if (mode === 'full' && graph) takeMemory(limit, CLASS_BYTES * (graph.end - graph.begin), 'the graph')
}

/**
 * @param {Container} container
 * @param {Profile} profile
 * @param {Float64Array} weight
 * @returns {Core}
 */
function readFull(container, { users, items, dim, selfLoops }, weight) {
  const layer0 = readMatrix(container, 'layer0', users + items, dim)
  const graph = readGraph(container, users, items)
  const norm = container.entries.has('item.norm') ? readScale(container, 'item.norm', items) : null
  const scorer = fullScorer(layer0, graphFilter(graph, selfLoops), weight, norm)
  return { degree: graph.itemDegree, degrees: null, graph, scorer }
}

/**
 * @param {Container} container
 * @returns {Float64Array}
 */
function readCoefficients(container) {
  const weight = /** @type {Float64Array} */ (getTensor(container, coefficientsName(container), ['F64'], [null]).data)
  if (weight.length < 1 || weight.length > 65 || !weight.every(value => Math.abs(value) <= 1e6)) {
    throw new BadCoefficients('the filter needs 1 to 65 finite coefficients of at most 1e6')
  }
  return weight
}

/**
 * @param {Container} container
 * @param {number} dim
 * @returns {Float32Array}
 */
function readVector(container, dim) {
  const vector = /** @type {Float32Array} */ (getTensor(container, 'user.vector', ['F32'], [dim]).data)
  if (!vector.every(Number.isFinite)) throw new BadVector('the user vector is not finite')
  return vector
}

/**
 * @param {Container} container
 * @param {number} items
 * @returns {Uint32Array}
 */
function readSeen(container, items) {
  const seen = /** @type {Uint32Array} */ (getTensor(container, 'user.seen', ['U32'], [null]).data)
  if (!seen.every(item => item < items)) throw new IndexOutOfRange("tensor 'user.seen' names an item that is not there")
  return seen
}

/**
 * @param {Container} container
 * @param {number} items
 * @returns {Tags | null}
 */
function readTags(container, items) {
  if (!hasText(container, 'tag') && !container.entries.has('item.tags')) return null
  const names = readText(container, 'tag', null)
  const width = Math.ceil(names.count / 8)
  const bits = /** @type {Uint8Array} */ (getTensor(container, 'item.tags', ['U8'], [items, width]).data)
  checkPadding('item.tags', bits, names.count)
  return { names, bits, width }
}
