/** Tags as chips: the most used ones above the list, all of them, however many, in a sheet with its own search. */

import { closeButton } from './about.js'
import { inside, make } from './view.js'

/** @typedef {{name: string, count: number}} TagCount */

const FIRST_TAGS = 12
const FOUND_TAGS = 60

/**
 * The chips above the list: chosen tags first, then the most used, then the way to all of them.
 *
 * @param {TagCount[]} tags
 * @param {string[]} chosen
 */
export function firstChips(tags, chosen) {
  const isChosen = (/** @type {TagCount} */ { name }) => chosen.includes(name)
  const rest = tags.filter(tag => !isChosen(tag))
  const shown = [...tags.filter(isChosen), ...rest.slice(0, Math.max(FIRST_TAGS - chosen.length, 0))]
  const chips = shown.map(tag => tagChip(tag, chosen))
  if (shown.length < tags.length) {
    chips.push(make('button', { class: 'chip more', type: 'button', 'data-action': 'all-tags', 'aria-haspopup': 'dialog' }, `All ${tags.length.toLocaleString('en')} tags`))
  }
  return chips
}

/** The sheet with all tags. */
export function tagsSheet() {
  return [
    closeButton(),
    make('h2', { id: 'tags-title' }, 'All tags'),
    make('input', { id: 'find-tag', type: 'search', placeholder: 'Find a tag', 'aria-label': 'Find a tag', autocomplete: 'off', spellcheck: false }),
    make('div', { id: 'found-tags', class: 'chips found' }),
    make('p', { id: 'more-tags', class: 'quiet' }),
  ]
}

/**
 * Fill the sheet with the tags that hold the wanted letters.
 *
 * @param {TagCount[]} tags
 * @param {string[]} chosen
 * @param {string} wanted
 */
export function showFound(tags, chosen, wanted) {
  const letters = wanted.trim().toLowerCase()
  const found = tags.filter(({ name }) => name.toLowerCase().includes(letters))
  inside(document.body, '#found-tags').replaceChildren(...found.slice(0, FOUND_TAGS).map(tag => tagChip(tag, chosen, true)))
  const hidden = found.length - FOUND_TAGS
  inside(document.body, '#more-tags').textContent = !found.length ? 'No tag has these letters.'
    : hidden > 0 ? `and ${hidden.toLocaleString('en')} more: type a few letters to find them` : ''
}

/**
 * @param {TagCount} tag
 * @param {string[]} chosen
 * @param {boolean} [counted] whether its number of items is shown
 */
function tagChip({ name, count }, chosen, counted = false) {
  return make('button', { class: 'chip', type: 'button', title: `${count} items`, 'data-tag': name, 'aria-pressed': String(chosen.includes(name)) },
    name, counted ? make('span', { class: 'quiet' }, ` ${count.toLocaleString('en')}`) : null)
}
