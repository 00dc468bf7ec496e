/** A model file opened for questions: load, then recommend, explain, similar. */

import { describeModel } from './card.js'
import { checkDigest, parseContainer } from './container.js'
import { BadQuery, UnknownItem, UnknownTag, UnknownUser } from './errors.js'
import { compareGolden } from './golden.js'
import { readParts } from './contents.js'
import { checkLength, identifier, identifiers, weightList } from './question.js'
import { topIndices } from './rank.js'
import { fileDigest, plainFileDigest } from './sha256.js'
import { termOf, withTerms } from './term.js'
import { textAt } from './text.js'

/** @typedef {import('./ids.js').Identifier} Identifier */
/** @typedef {import('./contents.js').Parts} Parts */
/** @typedef {import('./question.js').Some} Some */
/** @typedef {import('./scorers.js').History} History */
/** @typedef {{id: Identifier, score: number, title: string | null}} Recommendation */
/** @typedef {{id: Identifier, score: number, contributions: Recommendation[], term: number}} Explanation */
/** @typedef {{id: Identifier, title: string | null, tags: string[], popularity: number}} Item */
/** @typedef {{scores: ArrayLike<number>, seen: ArrayLike<number>}} Answer scores of all items, and what was seen already */

/**
 * @typedef {object} Question
 * @property {Identifier} [user] a stored user; or give a history
 * @property {Some | null} [history] what someone liked, or one such item; unknown items are ignored
 * @property {Iterable<number> | null} [weights] go with the history: negative for a dislike, smaller for what is long ago
 * @property {number} [k] how many
 * @property {Some} [exclude] leave these out
 * @property {Some | null} [deny] and these
 * @property {Some | null} [allow] nothing but these
 * @property {Iterable<string> | string | null} [tags] only items that have one of these
 * @property {boolean} [excludeSeen] leave out the history, or what the stored user has seen
 */

/**
 * Open a model file held in memory; rejects with the named error if anything in it is wrong. The bytes are used where they are
 * and must not change afterwards.
 *
 * @param {ArrayBuffer | Uint8Array} data
 * @returns {Promise<Model>}
 */
export async function load(data) {
  const container = parseContainer(data)
  checkDigest(container, await fileDigest(container.bytes))
  return new Model(readParts(container))
}

/**
 * The same without WebCrypto and without waiting.
 *
 * @param {ArrayBuffer | Uint8Array} data
 * @returns {Model}
 */
export function loadSync(data) {
  const container = parseContainer(data)
  checkDigest(container, plainFileDigest(container.bytes))
  return new Model(readParts(container))
}

/** Answers questions about external ids; scores with indices. */
export class Model {
  /** @type {Parts} */
  #parts
  /** @type {{key: string, vector: Float64Array}} the last user's vector: the next question is often about the same one */
  #last = { key: '', vector: new Float64Array(0) }

  /** @type {string[]} */
  #tagNames

  /** @param {Parts} parts */
  constructor(parts) {
    this.#parts = parts
    const names = parts.tags?.names
    this.#tagNames = names ? Array.from({ length: names.count }, (_, tag) => textAt(names, tag)) : []
  }

  /**
   * The k best items for a stored user, or for anyone with this history. Without a history that names a liked item of the file,
   * the most popular items are the answer.
   *
   * @param {Question} [question]
   * @returns {Recommendation[]}
   */
  recommend({ user, history, weights, k = 20, exclude = [], deny, allow, tags, excludeSeen = true } = {}) {
    checkLength(k)
    const { scores, seen } = this.#answer(user, history, weights)
    const allowed = this.#allowed([...identifiers(exclude), ...identifiers(deny)], allow, tags)
    if (excludeSeen) for (let j = 0; j < seen.length; j++) allowed[seen[j]] = 0
    return topIndices(scores, k, allowed).map(index => this.#recommendation(index, scores[index]))
  }

  /**
   * Why an item gets its score for a history: the contributions, in the order of the history, and its own term (0 in files without
   * such) add up to it.
   *
   * @param {{history: Some, item: Identifier, weights?: Iterable<number> | null}} question
   * @returns {Explanation}
   */
  explain({ history, item, weights }) {
    const { ids, popularity, scorer, terms } = this.#parts
    const index = this.#item(item)
    const { liked } = distinctItems(...this.#known(history, weights))
    if (!liked.weights.some(weight => weight > 0)) {
      return { id: ids.at(index), score: popularity[index], contributions: [], term: 0 }
    }
    const values = scorer.contributions(liked, index)
    const term = termOf(terms, index)
    return {
      id: ids.at(index),
      score: values.reduce((sum, value) => sum + value, 0) + term,
      contributions: values.map((value, j) => this.#recommendation(liked.items[j], value)),
      term,
    }
  }

  /**
   * The items whose final vectors lie closest to that of an item; terms of items count for nothing here.
   *
   * @param {{item: Identifier, k?: number}} question
   * @returns {Recommendation[]}
   */
  similar({ item, k = 20 }) {
    checkLength(k)
    const index = this.#item(item)
    const scores = this.#parts.scorer.similarities(index)
    const allowed = new Uint8Array(scores.length).fill(1)
    allowed[index] = 0
    return topIndices(scores, k, allowed).map(other => this.#recommendation(other, scores[other]))
  }

  /**
   * Run the golden queries stored in the file; throws SelfTestFailed if an answer differs.
   *
   * @returns {number} how many there were
   */
  selfTest() {
    const { golden, profile } = this.#parts
    golden.forEach((query, number) => {
      const { scores, seen } = query.user === null
        ? this.#ofHistory(query.history, query.weights)
        : this.#ofUser(query.user)
      const allowed = new Uint8Array(profile.items).fill(1)
      for (let j = 0; j < seen.length; j++) allowed[seen[j]] = 0
      const items = topIndices(scores, Math.max(query.items.length, 1), allowed).slice(0, query.items.length)
      compareGolden(`golden query ${number}`, query, items, items.map(item => scores[item]))
    })
    return golden.length
  }

  /**
   * What is inside: mode, sizes by section, hashes, metrics, and whose data it holds.
   *
   * @returns {import('./card.js').Card}
   */
  card() {
    return describeModel(this.#parts)
  }

  /**
   * All items with what the file says of them, for search and lists; made one at a time, in the order of the file.
   *
   * @returns {Generator<Item>}
   */
  * catalogue() {
    for (let index = 0; index < this.#parts.profile.items; index++) yield this.#described(index)
  }

  /**
   * One of them.
   *
   * @param {Identifier} id
   * @returns {Item | null} null where the file has no such item
   */
  item(id) {
    const index = this.#parts.ids.find(identifier(id))
    return index < 0 ? null : this.#described(index)
  }

  /**
   * Names of the tags in the file.
   *
   * @returns {string[]}
   */
  tags() {
    return [...new Set(this.#tagNames)]
  }

  /**
   * What the one user of a personal file has seen; nothing in other files.
   *
   * @returns {Identifier[]}
   */
  seen() {
    const { ids, seen } = this.#parts
    return Array.from(seen, index => ids.at(index))
  }

  /**
   * @param {Identifier | undefined} user
   * @param {Some | null | undefined} history
   * @param {Iterable<number> | null | undefined} weights
   * @returns {Answer}
   */
  #answer(user, history, weights) {
    const noUser = user === undefined || user === null
    const noHistory = history === undefined || history === null
    if (!noUser && !noHistory) throw new BadQuery('give a user or a history, not both')
    if (!noUser) return this.#ofUser(this.#user(user))
    if (noHistory && this.#parts.profile.mode === 'personal') return this.#ofUser(0)
    return this.#ofHistory(...this.#known(history, weights))
  }

  /**
   * @param {number} user
   * @returns {Answer}
   */
  #ofUser(user) {
    const { graph, scorer, seen, terms } = this.#parts
    const vector = this.#vector(`user ${user}`, () => scorer.known(user))
    const own = graph ? graph.item.subarray(graph.start[user], graph.start[user + 1]) : seen
    return { scores: withTerms(terms, scorer.scores(vector)), seen: own }
  }

  /**
   * @param {number[]} items
   * @param {number[]} weights
   * @returns {Answer}
   */
  #ofHistory(items, weights) {
    const { popularity, scorer, terms } = this.#parts
    const { seen, liked } = distinctItems(items, weights)
    if (!liked.weights.some(weight => weight > 0)) return { scores: popularity, seen }
    const vector = this.#vector(`items ${liked.items} ${liked.weights}`, () => scorer.fromHistory(liked))
    return { scores: withTerms(terms, scorer.scores(vector)), seen }
  }

  /**
   * @param {string} key
   * @param {() => Float64Array} make
   * @returns {Float64Array}
   */
  #vector(key, make) {
    if (this.#last.key !== key) this.#last = { key, vector: make() }
    return this.#last.vector
  }

  /**
   * The items of a history that the file knows, and their weights.
   *
   * @param {Some | null | undefined} history
   * @param {Iterable<number> | null | undefined} weights
   * @returns {[number[], number[]]}
   */
  #known(history, weights) {
    const found = identifiers(history).map(id => this.#parts.ids.find(id))
    const given = weightList(weights, found.length)
    return [found.filter(index => index >= 0), given.filter((_, j) => found[j] >= 0)]
  }

  /**
   * @param {Identifier[]} hidden
   * @param {Some | null | undefined} allow
   * @param {Iterable<string> | string | null | undefined} tags
   * @returns {Uint8Array} 1 for the items that may be in the answer
   */
  #allowed(hidden, allow, tags) {
    const { ids, profile } = this.#parts
    const allowed = tags === undefined || tags === null ? new Uint8Array(profile.items).fill(1) : this.#tagged(tags)
    if (allow !== undefined && allow !== null) {
      const listed = new Uint8Array(profile.items)
      for (const id of identifiers(allow)) listed[ids.find(id)] = 1 // -1 sets nothing
      for (let index = 0; index < allowed.length; index++) allowed[index] &= listed[index]
    }
    for (const id of hidden) allowed[ids.find(id)] = 0
    return allowed
  }

  /**
   * @param {Iterable<string> | string} wanted
   * @returns {Uint8Array} 1 for the items that have at least one of the tags
   */
  #tagged(wanted) {
    const { profile, tags } = this.#parts
    if (!tags) throw new UnknownTag('this file has no tags') // whichever were asked for, even none
    const some = new Uint8Array(profile.items)
    for (const name of identifiers(wanted)) {
      if (!this.#tagNames.includes(String(name))) throw new UnknownTag(`no tag '${name}' in this file`)
      this.#tagNames.forEach((own, tag) => { // a name that stands twice is one tag
        if (own === String(name)) for (let index = 0; index < some.length; index++) some[index] |= tagBit(tags, index, tag)
      })
    }
    return some
  }

  /**
   * @param {Identifier} item
   * @returns {number}
   */
  #item(item) {
    const index = this.#parts.ids.find(identifier(item))
    if (index < 0) throw new UnknownItem(`no item '${item}' in this file`)
    return index
  }

  /**
   * @param {Identifier} user
   * @returns {number}
   */
  #user(user) {
    const { profile, userIds } = this.#parts
    const id = identifier(user) // before any comparison as text: ['me'] and much else would pass for 'me'
    if (profile.mode === 'personal' && profile.userId !== null && String(id) === String(profile.userId)) return 0
    const index = userIds ? userIds.find(id) : -1
    if (index < 0) {
      throw new UnknownUser(`no user '${id}' in this file of mode '${profile.mode}': give a history instead`)
    }
    return index
  }

  /**
   * @param {number} index
   * @returns {Item}
   */
  #described(index) {
    const { ids, popularity, tags, titles } = this.#parts
    return {
      id: ids.at(index),
      title: titles && textAt(titles, index),
      tags: tags ? [...new Set(this.#tagNames.filter((_, tag) => tagBit(tags, index, tag)))] : [],
      popularity: popularity[index],
    }
  }

  /**
   * @param {number} index
   * @param {number} score
   * @returns {Recommendation}
   */
  #recommendation(index, score) {
    const { ids, titles } = this.#parts
    return { id: ids.at(index), score, title: titles && textAt(titles, index) }
  }
}

/**
 * First occurrence of each item kept; those of weight 0 count as seen but not as history.
 *
 * @param {number[]} items
 * @param {number[]} weights
 * @returns {{seen: number[], liked: History}}
 */
function distinctItems(items, weights) {
  /** @type {Map<number, number>} */
  const first = new Map()
  items.forEach((item, j) => { if (!first.has(item)) first.set(item, weights[j]) })
  const liked = [...first].filter(([, weight]) => weight !== 0)
  return {
    seen: [...first.keys()],
    liked: { items: liked.map(([item]) => item), weights: liked.map(([, weight]) => weight) },
  }
}

/**
 * @param {import('./contents.js').Tags} tags
 * @param {number} index
 * @param {number} tag
 * @returns {number} 1 if the item has the tag
 */
function tagBit({ bits, width }, index, tag) {
  return (bits[index * width + (tag >> 3)] >> (tag & 7)) & 1
}
