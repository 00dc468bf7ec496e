/** The model card in words: how big, how good, whose data, how it was made. */

import { icon, make } from './view.js'

const RECALL = 'recall@20'
const NDCG = 'ndcg@20'
const COLOURS = 6
/** @type {Record<string, string>} */
const BASES = { lightgcn: 'LightGCN', mgdcf: 'MGDCF', xsimgcl: 'XSimGCL', mf: 'matrix factorisation' }

/** @typedef {import('./card.js').Card} Card */
/** @typedef {Record<string, number> | undefined} Metrics of one group of users */

/**
 * One line for the side of the page.
 *
 * @param {Card} card
 */
export function summarise({ bytes, items, card }) {
  const quality = card.metrics?.file?.folded?.[RECALL]
  const found = quality === undefined ? '' : ` Its first 20 suggestions hold ${percent(quality)} of ${heldBack(card)}.`
  return `${inBytes(bytes)}, ${items.toLocaleString('en')} items.${found}`
}

/**
 * What the quality was measured on: only a split by time holds back what came later.
 *
 * @param {Record<string, any>} card as the producer wrote it
 */
function heldBack(card) {
  return card.split?.protocol === 'temporal' ? 'what people went on to choose' : 'the choices that were hidden from it'
}

/**
 * @param {Card} card as the reader gives it
 * @param {{tested: string, times: string}} measured
 */
export function aboutSheet(card, measured) {
  return [
    closeButton(),
    make('h2', { id: 'about-title' }, 'About this model'),
    make('div', { class: 'facts' },
      fact(inBytes(card.bytes), 'the whole model'),
      fact(card.items.toLocaleString('en'), 'items'),
      fact(card.users.toLocaleString('en'), 'people it learned from')),
    make('h3', {}, 'How good it is'), make('p', {}, qualityWords(card.card)),
    make('h3', {}, 'What data is inside'),
    make('p', {}, `${capital(card.data_inside)}.`),
    make('p', {}, 'What you like is kept by this browser, for this page alone. The page is not able to contact any server: its own policy forbids every connection.'),
    make('h3', {}, 'Keys'),
    make('p', {}, ...keys()),
    make('details', {}, make('summary', {}, 'Technical details'),
      make('h3', {}, 'Quality in figures'), qualityTable(card.card.metrics),
      make('h3', {}, 'How it was made'), madeList(card),
      make('h3', {}, 'Where the bytes go'), ...sections(card),
      make('h3', {}, 'On this device'),
      make('p', {}, `${measured.tested} ${measured.times}`)),
  ]
}

export function closeButton() {
  return make('button', { class: 'round close', type: 'button', 'data-action': 'close', 'aria-label': 'Close' }, icon('close'))
}

/**
 * @param {string} value
 * @param {string} words
 */
function fact(value, words) {
  return make('p', {}, make('strong', {}, value), words)
}

/** @param {Record<string, any>} card as the producer wrote it */
function qualityWords({ metrics, split }) {
  const shown = metrics?.file?.folded ?? metrics?.file?.trained
  if (!shown) return 'The file does not say.'
  const popular = metrics.popularity?.all?.[RECALL]
  return `Of ${heldBack({ split })}, ${percent(shown[RECALL])} is among its first 20 suggestions` +
    (popular === undefined ? '.' : `; a list of what is popular gets ${percent(popular)}.`)
}

/** @param {Record<string, Record<string, Metrics>> | undefined} metrics */
function qualityTable(metrics) {
  const file = metrics?.file
  if (!file) return make('p', {}, 'The file does not say.')
  /** @type {[string, Metrics][]} */
  const groups = [
    ['This file, for someone new', file.folded], ['This file, for people it learned from', file.trained],
    ['Before it was made small, someone new', metrics.float?.folded],
    ['Before it was made small, people it learned from', metrics.float?.trained],
    ['Most popular items', metrics.popularity?.all],
  ]
  const rows = groups.filter(([, found]) => found)
  return make('table', {},
    make('thead', {}, make('tr', {}, cell('th', ''), cell('th', 'Recall@20'), cell('th', 'NDCG@20'))),
    make('tbody', {}, ...rows.map(([name, found]) =>
      make('tr', {}, cell('th', name), cell('td', decimals(found?.[RECALL])), cell('td', decimals(found?.[NDCG]))))))
}

/**
 * @param {'th' | 'td'} kind
 * @param {string} text
 */
function cell(kind, text) {
  return make(kind, kind === 'th' && text ? { scope: 'col' } : {}, text)
}

/** @param {Card} card */
function madeList({ card, base, dim, mode, format_version: version, sha256 }) {
  const density = card.density === undefined ? null : `${percent(card.density)} of the table is used`
  const split = card.split && `${card.split.protocol}, seed ${card.split.seed}, ${String(card.split.hash).slice(0, 12)}`
  const pairs = [
    ['Recommender', BASES[base] ?? base], ['Method', card.method], ['Table', [`${dim} columns`, density].filter(Boolean).join(', ')], ['Mode', mode],
    ['Data split', split], ['Settings', card.config_sha], ['Producer', card.producer], ['Licence', card.licence],
    ['Format', version], ['SHA-256', sha256.slice(0, 16)],
  ]
  const list = make('dl', {})
  for (const [name, value] of pairs) if (value) list.append(make('dt', {}, name), make('dd', {}, String(value)))
  return list
}

/** @param {Card} card */
function sections({ sections: sizes, bytes }) {
  const sorted = Object.entries(sizes).sort((a, b) => b[1] - a[1])
  const bar = make('div', { class: 'bar', 'aria-hidden': 'true' })
  const list = make('ul', { class: 'sections' })
  sorted.forEach(([name, size], place) => {
    const colour = `part-${Math.min(place, COLOURS)}`
    const part = make('span', { class: colour })
    part.style.flexGrow = String(size / bytes)
    bar.append(part)
    list.append(make('li', {}, make('span', { class: `dot ${colour}` }), make('span', {}, name), make('span', { class: 'quiet' }, inBytes(size))))
  })
  return [bar, list]
}

function keys() {
  const pairs = [['/', ' search, '], ['↑', ' '], ['↓', ' move through a list, '], ['L', ' like, '], ['D', ' not for me, '], ['Esc', ' clear or close']]
  return pairs.flatMap(([key, meaning]) => [make('kbd', {}, key), meaning])
}

/** @param {number} bytes */
export function inBytes(bytes) {
  if (bytes < 1e3) return `${bytes}\u00a0bytes`
  return bytes < 1e6 ? `${Math.round(bytes / 1e3)}\u00a0KB` : `${(bytes / 1e6).toFixed(2)}\u00a0MB`
}

/** @param {number} share */
function percent(share) {
  return `${(100 * share).toFixed(1).replace(/\.0$/, '')}\u00a0%`
}

/** @param {number | undefined} value */
function decimals(value) {
  return value === undefined ? '' : value.toFixed(4)
}

/** @param {string} text */
function capital(text) {
  return text[0].toUpperCase() + text.slice(1)
}
