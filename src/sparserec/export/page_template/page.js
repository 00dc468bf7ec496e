/** The page: what the visitor does, what the engine is asked, what is shown. */

import { aboutSheet, summarise } from './about.js'
import { connectEngine } from './ask.js'
import { openMemory } from './memory.js'
import { itemSheet } from './sheet.js'
import { firstChips, showFound, tagsSheet } from './tags.js'
import { icon, itemOf, make, showItems, stepFocus, titleButton } from './view.js'

const PAGE_SIZE = 20
const TOAST_MILLISECONDS = 7000
/** @type {Record<string, string>} */
const HEADINGS = { popular: 'Popular to start with', stored: 'For you', yours: 'For you' }
/** @type {Record<string, string>} */
const HINTS = {
  popular: 'Like a few things and this list becomes yours.',
  stored: 'From what this file knows of its owner.',
  yours: 'Changes with every choice you make.',
}

/** @typedef {import('./view.js').Identifier} Identifier */
/** @typedef {{id: Identifier, title: string}} Named */

/**
 * An element of the template, of the kind it has there.
 *
 * @param {string} id
 * @returns {any}
 */
const at = id => document.getElementById(id)

/**
 * Everything that changes, in one place.
 *
 * @type {{text: string, tags: string[], matching: string, size: number, turn: number, openItem: Identifier | null,
 *   undo: import('./memory.js').Choices, spent: number, opened: number, toastTimer: number}}
 */
const state = { text: '', tags: [], matching: 'any', size: PAGE_SIZE, turn: 0, openItem: null, undo: [], spent: 0, opened: 0, toastTimer: 0 }
/** @type {import('./ask.js').Ask} */
let ask
/** @type {ReturnType<typeof openMemory>} */
let memory
/** @type {{card: import('./card.js').Card, tags: import('./tags.js').TagCount[]}} */
let overview

/** Ask for the list that belongs to the present state and show it, unless a newer question was asked meanwhile. */
async function refresh() {
  const turn = ++state.turn
  setBusy('items', true)
  const started = performance.now()
  const searching = state.text.trim() !== ''
  const answer = searching
    ? await ask('search', { text: state.text, k: state.size })
    : await ask('recommend', { profile: memory.profile(), tags: state.tags, matching: state.matching, k: state.size })
  if (turn !== state.turn) return
  state.spent = performance.now() - started
  at('filter').hidden = searching || !overview.tags.length
  at('clear').hidden = state.text === ''
  if (searching) showSearch(answer)
  else showRecommended(answer)
  showItems(at('items'), answer.items, memory.choice)
  setBusy('items', false)
}

/**
 * @param {string} id
 * @param {boolean} busy
 */
function setBusy(id, busy) {
  at(id).setAttribute('aria-busy', String(busy))
}

/** @param {{items: import('./view.js').Shown[], total: number}} answer */
function showSearch({ items, total }) {
  at('heading').textContent = 'Search results'
  at('hint').textContent = total ? `${total.toLocaleString('en')} ${total === 1 ? 'title' : 'titles'}` : ''
  at('more').hidden = total <= items.length
  showEmpty(items.length ? '' : `No title matches “${state.text.trim()}”. Try fewer letters; accents do not matter.`)
  announce(`${total} found`)
}

/** @param {{kind: string, items: import('./view.js').Listed[], more: boolean}} answer */
function showRecommended({ kind, items, more }) {
  at('heading').textContent = HEADINGS[kind]
  at('hint').textContent = HINTS[kind]
  at('more').hidden = !more
  showEmpty(items.length ? '' : state.tags.length
    ? 'Nothing left with these tags. Take one off, or match any of them.'
    : 'You have been through everything in this model.')
}

/** @param {string} text */
function showEmpty(text) {
  at('empty').textContent = text
  at('empty').hidden = !text
}

async function showChoices() {
  const place = forgetButtons().findIndex(button => button === document.activeElement)
  setBusy('choices', true)
  for (const kind of /** @type {const} */ (['liked', 'disliked'])) {
    const items = await ask('describe', { ids: memory[kind]().reverse() })
    at(kind).replaceChildren(...items.map(chosenRow))
    at(`${kind}-heading`).hidden = !items.length
  }
  const size = memory.size()
  at('no-choices').hidden = size > 0
  at('erase').hidden = size === 0
  at('count').hidden = size === 0
  at('count').textContent = String(size)
  at('kept').textContent = !size ? '' : memory.storable()
    ? 'Kept in this browser until you erase it.'
    : 'This browser does not let the page keep anything: your choices go when you close it.'
  setBusy('choices', false)
  if (place >= 0) (forgetButtons()[Math.min(place, size - 1)] ?? at('choices')).focus()
}

/** @returns {HTMLElement[]} */
function forgetButtons() {
  return [...at('choices').querySelectorAll('[data-action=forget]')]
}

/** @param {Named} item */
function chosenRow(item) {
  const remove = make('button', { class: 'round', type: 'button', 'data-action': 'forget', 'aria-label': `Forget ${item.title}` }, icon('close'))
  return make('li', { 'data-id': JSON.stringify(item.id) },
    titleButton(item.title), remove)
}

/** Everything that depends on the choices. */
async function refreshAll() {
  await Promise.all([refresh(), showChoices()])
  if (state.openItem !== null) await showItem(state.openItem)
}

/**
 * Like or dislike; the same again takes it back.
 *
 * @param {Named} item
 * @param {number} wanted
 */
async function choose(item, wanted) {
  const choice = memory.choice(item.id) === wanted ? 0 : wanted
  state.undo = memory.snapshot()
  memory.choose(item.id, choice)
  const words = choice > 0 ? `Liked ${item.title}` : choice < 0 ? `Not for you: ${item.title}` : `Forgot ${item.title}`
  toast(words)
  await refreshAll()
  announce(`${words}. Suggestions updated.`)
}

/** @param {string} words */
function toast(words) {
  at('toast-text').textContent = words
  showToast(true)
  clearTimeout(state.toastTimer)
  state.toastTimer = setTimeout(hideToast, TOAST_MILLISECONDS)
}

/** Stays while someone is on its button. */
function hideToast() {
  if (at('toast').matches(':focus-within, :hover')) state.toastTimer = setTimeout(hideToast, TOAST_MILLISECONDS)
  else showToast(false)
}

/**
 * The message takes the place of the hint, in the bar that is always in view, so that it covers nothing.
 *
 * @param {boolean} shown
 */
function showToast(shown) {
  at('toast').hidden = !shown
  at('hint').hidden = shown
}

/** @param {string} words */
function announce(words) {
  at('status').textContent = words
}

async function undo() {
  showToast(false)
  memory.restore(state.undo)
  await refreshAll()
  announce('Taken back. Suggestions updated.')
  at('heading').focus({ preventScroll: true })
}

async function erase() {
  memory.restore([])
  Object.assign(state, { text: '', tags: [], matching: 'any', size: PAGE_SIZE, undo: [] })
  showToast(false)
  at('toast-text').textContent = ''
  at('search').value = ''
  showTags()
  await refreshAll()
  scrollTo({ top: 0 })
  at('heading').focus({ preventScroll: true })
  announce('Everything is erased.')
}

function showTags() {
  at('tags').replaceChildren(...firstChips(overview.tags, state.tags))
  showMatching()
}

function showAllTags() {
  at('all-tags-sheet').replaceChildren(...tagsSheet())
  const find = at('find-tag')
  find.addEventListener('input', () => showFound(overview.tags, state.tags, find.value))
  showFound(overview.tags, state.tags, '')
  at('all-tags').showModal()
}

/** Chosen tags have come to the front meanwhile. */
function closeAllTags() {
  showTags()
  at('tags').scrollTo({ left: 0 })
  at('tags').querySelector('[data-action=all-tags]').focus({ preventScroll: true })
}

function showMatching() {
  at('matching').hidden = state.tags.length < 2
  for (const button of at('matching').children) button.setAttribute('aria-pressed', String(button.dataset.matching === state.matching))
}

/** @param {HTMLElement} chip */
function pressTag(chip) {
  const tag = String(chip.dataset.tag)
  state.tags = state.tags.includes(tag) ? state.tags.filter(other => other !== tag) : [...state.tags, tag]
  state.size = PAGE_SIZE
  for (const same of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('[data-tag]'))) {
    if (same.dataset.tag === tag) same.setAttribute('aria-pressed', String(state.tags.includes(tag)))
  }
  showMatching()
  refresh().then(() => announce(state.tags.length ? `Filtered by ${state.tags.join(', ')}` : 'No filter'))
}

/** @param {Identifier} id */
async function showItem(id) {
  const fresh = state.openItem !== id
  const focused = /** @type {HTMLElement} */ (document.activeElement)
  state.openItem = id
  setBusy('item-sheet', true)
  const item = await ask('details', { profile: memory.profile(), item: id })
  if (state.openItem !== id) return
  const sheet = at('item-sheet')
  sheet.replaceChildren(...itemSheet(item, memory.choice))
  sheet.dataset.id = JSON.stringify(id)
  setBusy('item-sheet', false)
  if (!at('item').open) at('item').showModal()
  if (fresh) sheet.scrollTop = 0
  const same = fresh ? null : sameControl(sheet, focused)
  ;(same ?? sheet.querySelector('h2')).focus({ preventScroll: true })
}

/**
 * The control that does after a sheet was made anew what `old` did before.
 *
 * @param {HTMLElement} sheet
 * @param {HTMLElement} old
 */
function sameControl(sheet, old) {
  const row = rowId(old)
  return [...sheet.querySelectorAll('button')].find(button => button.dataset.action === old.dataset.action && rowId(button) === row)
}

/** @param {HTMLElement} control */
function rowId(control) {
  return /** @type {HTMLElement | null} */ (control.closest('.row'))?.dataset.id
}

async function showAbout() {
  let tested = 'This file brings no test questions.'
  try {
    const count = await ask('selfTest')
    if (count) tested = `Self-test passed: ${count} questions answered as when the file was made.`
  } catch (error) {
    tested = `Self-test failed: ${error instanceof Error ? error.message : error}.`
  }
  const times = `Opened in ${Math.round(state.opened)} ms; the last list took ${state.spent.toFixed(1)} ms.`
  at('about-sheet').replaceChildren(...aboutSheet(overview.card, { tested, times }))
  at('about').showModal()
}

/** @type {Record<string, (item: any, button: HTMLElement) => void>} */
const ACTIONS = {
  open: item => showItem(item.id),
  like: item => choose(item, 1),
  dislike: item => choose(item, -1),
  forget: item => choose(item, memory.choice(item.id)),
  close: (_, button) => button.closest('dialog')?.close(),
  'all-tags': showAllTags,
}

/** @param {MouseEvent} event */
function onClick(event) {
  /** @type {any} */
  const target = event.target
  /** @type {HTMLElement | null} */
  const button = target.closest('button')
  if (target.matches?.('dialog')) target.close() // the dark part around it
  if (!button) return
  if (button.dataset.tag) pressTag(button)
  else if (button.dataset.action) ACTIONS[button.dataset.action](itemOf(button), button)
  else if (button.dataset.matching) {
    state.matching = button.dataset.matching
    showMatching()
    refresh()
  }
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  const control = /** @type {HTMLElement} */ (event.target)
  if (event.key === '/' && !control.matches('input') && !document.querySelector('dialog[open]')) return focusSearch(event)
  if (control === at('search')) return onSearchKey(event)
  const row = control.closest?.('.row')
  if (!row) return
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
  if (step) {
    event.preventDefault()
    if (!stepFocus(control, step) && step < 0 && row.parentElement === at('items')) at('search').focus()
  } else if (event.key === 'l' || event.key === 'd') {
    const item = itemOf(row)
    if (item) choose(item, event.key === 'l' ? 1 : -1)
  }
}

/** @param {KeyboardEvent} event */
function focusSearch(event) {
  event.preventDefault()
  at('search').focus()
  at('search').select()
}

/** @param {KeyboardEvent} event */
function onSearchKey(event) {
  if (event.key === 'Escape') setSearch('')
  if (event.key !== 'ArrowDown' && event.key !== 'Enter') return
  event.preventDefault()
  at('items').querySelector('[data-action=open]')?.focus()
}

/** @param {string} text */
function setSearch(text) {
  if (at('search').value !== text) at('search').value = text
  state.text = text
  state.size = PAGE_SIZE
  refresh()
}

function listen() {
  document.addEventListener('click', onClick)
  document.addEventListener('keydown', onKey)
  at('search').addEventListener('input', () => setSearch(at('search').value))
  at('clear').addEventListener('click', () => { setSearch(''); at('search').focus() })
  at('more').addEventListener('click', showMore)
  at('undo').addEventListener('click', undo)
  at('open-about').addEventListener('click', showAbout)
  at('open-about-too').addEventListener('click', showAbout)
  at('item').addEventListener('close', () => { state.openItem = null })
  at('all-tags').addEventListener('close', closeAllTags)
  at('erase').addEventListener('click', askToErase)
  at('confirm').addEventListener('close', () => { if (at('confirm').returnValue === 'erase') erase() })
  addEventListener('storage', () => { memory.reload(); refreshAll() }) // another tab of this page
}

async function showMore() {
  const from = state.size
  state.size += PAGE_SIZE
  await refresh()
  at('items').children[from]?.querySelector('[data-action=open]').focus({ preventScroll: true })
}

function askToErase() {
  const count = memory.size()
  at('confirm-text').textContent = `${count === 1 ? 'Your one choice is' : `All ${count} of your choices are`} forgotten, here and in this browser's storage. There is no way back.`
  at('confirm').returnValue = ''
  at('confirm').showModal()
}

async function start() {
  const started = performance.now()
  ask = await connectEngine()
  overview = await ask('overview')
  state.opened = performance.now() - started
  memory = openMemory(`sparserec ${overview.card.sha256}`)
  at('summary').textContent = summarise(overview.card)
  showTags()
  listen()
  await refreshAll()
  document.documentElement.dataset.ready = 'yes'
  ask('warm')
}

start().catch(error => {
  at('heading').textContent = 'This model cannot be opened'
  at('hint').textContent = ''
  at('items').replaceChildren()
  showEmpty(`${error.name}: ${error.message}. The page seems to be damaged; ask for a new copy.`)
})
