/**
 * Answers the questions of the page. Runs in a worker made from the page itself, or in the page where workers are refused.
 * The imports are modules of the reader, put in front of this file when the page is written.
 */

import { load } from './model.js'
import { buildSearch } from './search.js'
import { readable } from './titles.js'

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./view.js').Identifier} Identifier */
/** @typedef {import('./view.js').Shown} Shown */
/** @typedef {[Identifier, number][]} Profile the visitor's choices and how much they count */
/** @typedef {{history: Identifier[], weights: number[]}} FullHistory */
/** @typedef {{profile: Profile, tags: string[], matching: string, k: number}} ListQuestion */

const REASONS = 2
/** A reason speaks for an item so many times more than for the rest of the list; else it tells nothing about the item. */
const STANDS_OUT = 1.25
const SIMILAR = 6

/**
 * Open a model and get functions that take and return plain values.
 *
 * @param {string} text the model file as base64
 */
export async function openEngine(text) {
  const model = await load(decode(text))
  const card = model.card()
  /** @type {Shown[] | null} */
  let items = null
  /** @type {ReturnType<typeof buildSearch> | null} */
  let search = null
  const catalogue = () => items ??= Array.from(model.catalogue(), shown)
  const searching = () => search ??= buildSearch(catalogue())
  return {
    overview: () => ({ card, tags: model.tags().length ? tagCounts(catalogue()) : [] }),
    recommend: (/** @type {ListQuestion} */ question) => recommend(model, card.mode, tagFilter(catalogue, question), question),
    details: (/** @type {{profile: Profile, item: Identifier}} */ question) => details(model, question),
    describe: (/** @type {{ids: Identifier[]}} */ { ids }) => ids.flatMap(id => model.item(id) ?? []).map(shown),
    warm: () => { searching() },
    search: (/** @type {{text: string, k: number}} */ { text: wanted, k }) => searching()(wanted, k),
    selfTest: () => model.selfTest(),
  }
}

/** Answer messages with the engine; the first one must carry the model. */
export function serveEngine() {
  /** @type {any} */
  let engine = null
  globalThis.onmessage = async ({ data: { number, method, question } }) => {
    try {
      if (method === 'open') engine = await openEngine(question)
      const value = method === 'open' ? null : engine[method](question)
      globalThis.postMessage({ number, value })
    } catch (error) {
      const { name, message } = /** @type {Error} */ (error)
      globalThis.postMessage({ number, error: { name, message } })
    }
  }
}

/**
 * The list for a profile: popular items without a like, and with each item what in the profile speaks for it.
 *
 * @param {Model} model
 * @param {string} mode
 * @param {{tags?: string[], allow?: Identifier[]}} filter
 * @param {ListQuestion} question
 */
function recommend(model, mode, filter, { profile, k }) {
  const history = fullHistory(model, profile)
  const stored = mode === 'personal' && !profile.length
  const found = model.recommend({ ...(stored ? {} : history), ...filter, k: k + 1 })
  const known = history.weights.some(weight => weight > 0)
  const items = found.slice(0, k).map(({ id }) => describe(model, id))
  // in mode full an explanation takes as long as the list
  /** @type {string[][]} */
  const because = known && mode !== 'full' ? reasons(model, history, items) : items.map(() => [])
  return {
    kind: stored ? 'stored' : known ? 'yours' : 'popular',
    items: items.map((item, place) => ({ ...item, because: because[place] })),
    more: found.length > k,
  }
}

/**
 * Everything about one item: why it has its score, and what lies near it.
 *
 * @param {Model} model
 * @param {{profile: Profile, item: Identifier}} question
 */
function details(model, { profile, item }) {
  const history = fullHistory(model, profile)
  const { contributions } = model.explain({ ...history, item })
  const liked = new Map(history.history.map((id, j) => [id, history.weights[j] > 0]))
  const near = model.similar({ item, k: SIMILAR + liked.size }).filter(({ id }) => !liked.has(id))
  return {
    ...describe(model, item),
    because: contributions.map(({ id, score }) => ({ ...describe(model, id), score, liked: liked.get(id) })),
    similar: near.slice(0, SIMILAR).map(({ id }) => describe(model, id)),
  }
}

/**
 * What a stored user has seen counts as liked, before the visitor's own choices.
 *
 * @param {Model} model
 * @param {Profile} profile
 * @returns {FullHistory}
 */
function fullHistory(model, profile) {
  const chosen = new Map(model.seen().map(id => [id, 1]))
  for (const [id, weight] of profile) chosen.set(id, weight)
  return { history: [...chosen.keys()], weights: [...chosen.values()] }
}

/**
 * For each item the likes that speak for it more than for the list as a whole, the strongest first.
 *
 * @param {Model} model
 * @param {FullHistory} history
 * @param {Shown[]} items
 */
function reasons(model, history, items) {
  const liked = new Set(history.history.filter((_, j) => history.weights[j] > 0))
  const shares = items.map(({ id: item }) => {
    const parts = model.explain({ ...history, item }).contributions.filter(({ id, score }) => score > 0 && liked.has(id))
    const sum = parts.reduce((total, { score }) => total + score, 0)
    return parts.map(part => ({ ...part, share: part.score / sum }))
  })
  const usual = new Map([...liked].map(id => [id, 0]))
  for (const { id, share } of shares.flat()) usual.set(id, (usual.get(id) ?? 0) + share / items.length)
  return shares.map(parts => parts.filter(({ id, share }) => share >= STANDS_OUT * (usual.get(id) ?? 0))
    .sort((a, b) => b.share - a.share).slice(0, REASONS).map(({ id }) => describe(model, id).title))
}

/**
 * @param {() => Shown[]} catalogue
 * @param {{tags: string[], matching: string}} question
 */
function tagFilter(catalogue, { tags, matching }) {
  if (!tags.length) return {}
  if (matching === 'any' || tags.length === 1) return { tags }
  return { allow: catalogue().filter(item => tags.every(tag => item.tags.includes(tag))).map(({ id }) => id) }
}

/**
 * Tags with the number of their items, most used first.
 *
 * @param {Shown[]} catalogue
 */
function tagCounts(catalogue) {
  /** @type {Map<string, number>} */
  const counts = new Map()
  for (const { tags } of catalogue) for (const tag of tags) counts.set(tag, (counts.get(tag) ?? 0) + 1)
  return Array.from(counts, ([name, count]) => ({ name, count })).sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
}

/**
 * @param {Model} model
 * @param {Identifier} id of an item that is there
 */
function describe(model, id) {
  return shown(/** @type {import('./model.js').Item} */ (model.item(id)))
}

/**
 * An item as the page shows it: one without a title is called by its id.
 *
 * @param {import('./model.js').Item} item
 * @returns {Shown}
 */
function shown(item) {
  return { ...item, title: item.title ? readable(item.title) : `Item ${item.id}` }
}

/**
 * @param {string} text base64
 * @returns {Uint8Array}
 */
function decode(text) {
  /** @type {any} */
  const native = Uint8Array // newer browsers read base64 themselves
  if (native.fromBase64) return native.fromBase64(text)
  const characters = atob(text)
  const bytes = new Uint8Array(characters.length)
  for (let at = 0; at < bytes.length; at++) bytes[at] = characters.charCodeAt(at)
  return bytes
}
