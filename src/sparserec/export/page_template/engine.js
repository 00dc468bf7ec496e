/**
 * Answers the questions of the page. Runs in a worker made from the page itself, or in the page where workers are refused.
 * The imports are modules of the reader, put in front of this file when the page is written.
 */

import { load } from './model.js'
import { buildSearch } from './search.js'
import { readable } from './titles.js'

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
  let items = null
  let search = null
  const catalogue = () => items ??= Array.from(model.catalogue(), shown)
  const searching = () => search ??= buildSearch(catalogue())
  return {
    overview: () => ({ card, tags: model.tags().length ? tagCounts(catalogue()) : [] }),
    recommend: question => recommend(model, card.mode, tagFilter(catalogue, question), question),
    details: question => details(model, question),
    describe: ({ ids }) => ids.map(id => model.item(id)).filter(item => item).map(shown),
    warm: () => { searching() },
    search: ({ text: wanted, k }) => searching()(wanted, k),
    selfTest: () => model.selfTest(),
  }
}

/** Answer messages with the engine; the first one must carry the model. */
export function serveEngine() {
  let engine = null
  globalThis.onmessage = async ({ data: { number, method, question } }) => {
    try {
      if (method === 'open') engine = await openEngine(question)
      const value = method === 'open' ? null : engine[method](question)
      globalThis.postMessage({ number, value })
    } catch (error) {
      globalThis.postMessage({ number, error: { name: error.name, message: error.message } })
    }
  }
}

/**
 * The list for a profile: popular items without a like, and with each item what in the profile speaks for it.
 */
function recommend(model, mode, filter, { profile, k }) {
  const history = fullHistory(model, profile)
  const stored = mode === 'personal' && !profile.length
  const found = model.recommend({ ...(stored ? {} : history), ...filter, k: k + 1 })
  const known = history.weights.some(weight => weight > 0)
  const items = found.slice(0, k).map(({ id }) => shown(model.item(id)))
  // in mode full an explanation takes as long as the list
  const because = known && mode !== 'full' ? reasons(model, history, items) : items.map(() => [])
  return {
    kind: stored ? 'stored' : known ? 'yours' : 'popular',
    items: items.map((item, place) => ({ ...item, because: because[place] })),
    more: found.length > k,
  }
}

/** Everything about one item: why it has its score, and what lies near it. */
function details(model, { profile, item }) {
  const history = fullHistory(model, profile)
  const { contributions } = model.explain({ ...history, item })
  const liked = new Map(history.history.map((id, j) => [id, history.weights[j] > 0]))
  const near = model.similar({ item, k: SIMILAR + liked.size }).filter(({ id }) => !liked.has(id))
  return {
    ...shown(model.item(item)),
    because: contributions.map(({ id, score }) => ({ ...shown(model.item(id)), score, liked: liked.get(id) })),
    similar: near.slice(0, SIMILAR).map(({ id }) => shown(model.item(id))),
  }
}

/**
 * What a stored user has seen counts as liked, before the visitor's own choices.
 */
function fullHistory(model, profile) {
  const chosen = new Map(model.seen().map(id => [id, 1]))
  for (const [id, weight] of profile) chosen.set(id, weight)
  return { history: [...chosen.keys()], weights: [...chosen.values()] }
}

/** For each item the likes that speak for it more than for the list as a whole, the strongest first. */
function reasons(model, history, items) {
  const liked = new Set(history.history.filter((_, j) => history.weights[j] > 0))
  const shares = items.map(({ id: item }) => {
    const parts = model.explain({ ...history, item }).contributions.filter(({ id, score }) => score > 0 && liked.has(id))
    const sum = parts.reduce((total, { score }) => total + score, 0)
    return parts.map(part => ({ ...part, share: part.score / sum }))
  })
  const usual = new Map([...liked].map(id => [id, 0]))
  for (const { id, share } of shares.flat()) usual.set(id, usual.get(id) + share / items.length)
  return shares.map(parts => parts.filter(({ id, share }) => share >= STANDS_OUT * usual.get(id))
    .sort((a, b) => b.share - a.share).slice(0, REASONS).map(entry => shown(entry).title))
}

function tagFilter(catalogue, { tags, matching }) {
  if (!tags.length) return {}
  if (matching === 'any' || tags.length === 1) return { tags }
  return { allow: catalogue().filter(item => tags.every(tag => item.tags.includes(tag))).map(({ id }) => id) }
}

/** Tags with the number of their items, most used first. */
function tagCounts(catalogue) {
  const counts = new Map()
  for (const { tags } of catalogue) for (const tag of tags) counts.set(tag, (counts.get(tag) ?? 0) + 1)
  return Array.from(counts, ([name, count]) => ({ name, count })).sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
}

/** An item as the page shows it: one without a title is called by its id. */
function shown(item) {
  return { ...item, title: item.title ? readable(item.title) : `Item ${item.id}` }
}

function decode(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text)
  const characters = atob(text)
  const bytes = new Uint8Array(characters.length)
  for (let at = 0; at < bytes.length; at++) bytes[at] = characters.charCodeAt(at)
  return bytes
}
