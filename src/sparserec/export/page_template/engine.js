/**
 * Answers the questions of the page. Runs in a worker made from the page itself, or in the page where workers are refused.
 * The imports are modules of the reader, put in front of this file when the page is written.
 */

import { checkDigest, parseContainer } from './container.js'
import { Model } from './model.js'
import { readParts } from './parts.js'
import { buildSearch } from './search.js'
import { fileDigest } from './sha256.js'
import { textAt } from './text.js'

const REASONS = 2
const SIMILAR = 6

/**
 * Open a model and get functions that take and return plain values.
 *
 * @param {string} text the model file as base64
 */
export async function openEngine(text) {
  const container = parseContainer(decode(text))
  checkDigest(container, await fileDigest(container.bytes))
  const parts = readParts(container)
  const model = new Model(parts)
  const describe = describer(parts)
  let search = null
  const searching = () => search ??= buildSearch([...model.catalogue()], parts.popularity)
  return {
    overview: () => ({ card: model.card(), tags: tagCounts(parts, model.tags()) }),
    recommend: question => recommend(parts, model, describe, question),
    details: question => details(parts, model, describe, question),
    describe: ({ ids }) => ids.filter(id => parts.ids.find(id) >= 0).map(id => describe(id)),
    warm: () => { searching() },
    search: ({ text: wanted, k }) => {
      const { indices, total } = searching()(wanted, k)
      return { items: indices.map(index => describe(parts.ids.at(index))), total }
    },
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
function recommend(parts, model, describe, { profile, tags, matching, k }) {
  const history = fullHistory(parts, profile)
  const filter = tagFilter(parts, model, tags, matching)
  const stored = parts.profile.mode === 'personal' && !profile.length
  const found = model.recommend({ ...(stored ? {} : history), ...filter, k: k + 1 })
  const known = history.weights.some(weight => weight > 0)
  const explained = known && parts.profile.mode !== 'full' // in mode full an explanation takes as long as the list
  return {
    kind: stored ? 'stored' : known ? 'yours' : 'popular',
    items: found.slice(0, k).map(({ id }) => ({ ...describe(id), because: explained ? reasons(model, describe, history, id) : [] })),
    more: found.length > k,
  }
}

/** Everything about one item: why it has its score, and what lies near it. */
function details(parts, model, describe, { profile, item }) {
  const history = fullHistory(parts, profile)
  const { contributions } = model.explain({ ...history, item })
  const liked = new Map(history.history.map((id, j) => [id, history.weights[j] > 0]))
  return {
    ...describe(item),
    because: contributions.map(({ id, score }) => ({ ...describe(id), score, liked: liked.get(id) })),
    similar: model.similar({ item, k: SIMILAR }).map(({ id }) => describe(id)),
  }
}

/**
 * What a stored user has seen counts as liked, before the visitor's own choices.
 */
function fullHistory(parts, profile) {
  const chosen = new Map(Array.from(parts.seen, index => [parts.ids.at(index), 1]))
  for (const [id, weight] of profile) chosen.set(id, weight)
  return { history: [...chosen.keys()], weights: [...chosen.values()] }
}

function reasons(model, describe, history, item) {
  const liked = new Set(history.history.filter((_, j) => history.weights[j] > 0))
  const best = model.explain({ ...history, item }).contributions
    .filter(({ id, score }) => score > 0 && liked.has(id))
    .sort((a, b) => b.score - a.score)
    .slice(0, REASONS)
  return best.filter(({ score }) => score >= best[0].score / 4).map(({ id }) => describe(id).title)
}

function tagFilter(parts, model, tags, matching) {
  if (!tags.length) return {}
  if (matching === 'any' || tags.length === 1) return { tags }
  const names = model.tags()
  const wanted = tags.map(tag => names.indexOf(tag))
  const allow = []
  for (let index = 0; index < parts.profile.items; index++) {
    if (wanted.every(tag => hasTag(parts.tags, index, tag))) allow.push(parts.ids.at(index))
  }
  return { allow }
}

/** Tags with the number of their items, most used first. */
function tagCounts({ tags }, names) {
  const counts = names.map(name => ({ name, count: 0 }))
  for (let at = 0; tags && at < tags.bits.length; at++) {
    for (let rest = tags.bits[at]; rest; rest &= rest - 1) {
      counts[(at % tags.width) * 8 + 31 - Math.clz32(rest & -rest)].count++
    }
  }
  return counts.sort((a, b) => b.count - a.count)
}

function hasTag({ bits, width }, index, tag) {
  return ((bits[index * width + (tag >> 3)] >> (tag & 7)) & 1) === 1
}

/** A function from an id to what the page shows of an item. */
function describer({ ids, titles, tags }) {
  const names = tags ? Array.from({ length: tags.names.count }, (_, tag) => textAt(tags.names, tag)) : []
  return id => {
    const index = ids.find(id)
    const title = titles ? textAt(titles, index) : ''
    return { id, title: title || `Item ${id}`, tags: names.filter((_, tag) => hasTag(tags, index, tag)) }
  }
}

function decode(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text)
  const characters = atob(text)
  const bytes = new Uint8Array(characters.length)
  for (let at = 0; at < bytes.length; at++) bytes[at] = characters.charCodeAt(at)
  return bytes
}
