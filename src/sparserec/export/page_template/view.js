/** Pieces of the page: elements, rows of items, and lists that keep rows, focus and motion when they change. */

/** @typedef {number | string} Identifier */
/** @typedef {{id: Identifier, title: string, tags: string[], popularity: number}} Shown an item as the page shows it */
/** @typedef {Shown & {because?: string[]}} Listed with the likes that speak for it */

const SVG = 'http://www.w3.org/2000/svg'

/**
 * An element with properties and children; text is never parsed as HTML.
 *
 * @param {string} name
 * @param {Record<string, any>} [properties] `class`, `aria-*` and `data-*` become attributes
 * @param {...(Node | string | null)} children
 * @returns {HTMLElement}
 */
export function make(name, properties = {}, ...children) {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(properties)) {
    if (key === 'class' || key.includes('-')) element.setAttribute(key, value)
    else Object.assign(element, { [key]: value })
  }
  for (const child of children) if (child !== null) element.append(child)
  return element
}

/** @param {string} name */
export function icon(name) {
  const picture = document.createElementNS(SVG, 'svg')
  picture.setAttribute('class', 'icon')
  picture.setAttribute('aria-hidden', 'true')
  const use = document.createElementNS(SVG, 'use')
  use.setAttribute('href', `#icon-${name}`)
  picture.append(use)
  return picture
}

/**
 * A row of a list: what it is, why it is here, and two buttons.
 *
 * @param {Listed} item
 * @param {number} choice
 */
export function itemRow(item, choice) {
  const { name, year } = apart(item.title)
  const row = make('li', { class: 'row', 'data-id': JSON.stringify(item.id) },
    tile(item),
    make('div', { class: 'words' },
      titleButton(item.title, name),
      make('p', { class: 'meta' }, [year, ...item.tags].filter(Boolean).join(' · '))),
    choiceButton('like', item, false),
    choiceButton('dislike', item, false),
    make('p', { class: 'because' }))
  updateRow(row, item, choice)
  return row
}

/**
 * A title that opens its sheet; one too long for two lines is cut.
 *
 * @param {string} title
 * @param {string} [name] what is shown of it
 */
export function titleButton(title, name = title) {
  return make('button', { class: 'title', type: 'button', 'data-action': 'open', 'aria-haspopup': 'dialog', title }, make('span', { class: 'name' }, name))
}

/**
 * A title without the year at its end, which has a place of its own where no cut can reach it.
 *
 * @param {string} title
 * @returns {{name: string, year?: string}}
 */
function apart(title) {
  const [, name, year] = /^(.*?)(?:\s\((\d{4})\))?$/s.exec(title) ?? []
  return name ? { name, year } : { name: title }
}

/**
 * What may change while a row stays: its reasons and its buttons.
 *
 * @param {HTMLElement} row
 * @param {Listed} item
 * @param {number} choice
 */
function updateRow(row, item, choice) {
  inside(row, '.because').textContent = item.because?.length ? `Because you liked ${joinWords(item.because)}` : ''
  inside(row, '[data-action=like]').setAttribute('aria-pressed', String(choice > 0))
  inside(row, '[data-action=dislike]').setAttribute('aria-pressed', String(choice < 0))
}

/**
 * An element that is known to be there.
 *
 * @param {Element} element
 * @param {string} selector
 * @returns {HTMLElement}
 */
export function inside(element, selector) {
  return /** @type {HTMLElement} */ (element.querySelector(selector))
}

/**
 * The item that a control inside a row or sheet belongs to.
 *
 * @param {Element} element
 * @returns {{id: Identifier, title: string} | null}
 */
export function itemOf(element) {
  const holder = /** @type {HTMLElement | null} */ (element.closest('[data-id]'))
  return holder ? { id: JSON.parse(String(holder.dataset.id)), title: fullTitle(inside(holder, '.title')) } : null
}

/** @param {HTMLElement} element */
function fullTitle(element) {
  return element.title || String(element.textContent)
}

/**
 * @param {string} action
 * @param {Shown} item
 * @param {boolean} worded
 */
export function choiceButton(action, item, worded) {
  const label = action === 'like' ? 'Like' : 'Not for me'
  /** @type {Record<string, string>} */
  const properties = { class: worded ? `choice worded ${action}` : `choice ${action}`, type: 'button', 'data-action': action, title: label, 'aria-pressed': 'false' }
  if (!worded) properties['aria-label'] = `${label}: ${item.title}`
  return make('button', properties, icon(action), worded ? label : null)
}

/**
 * A letter on a colour that items of the same first tag share.
 *
 * @param {Shown} item
 */
function tile(item) {
  const letter = make('span', { class: 'tile', 'aria-hidden': 'true' }, [...item.title][0].toUpperCase())
  let hash = 7
  for (const character of item.tags[0] ?? item.title) hash = (hash * 31 + Number(character.codePointAt(0))) % 65521
  letter.style.setProperty('--hue', String(hash * 137 % 360)) // near hashes, far hues
  return letter
}

/**
 * Show items in a list: rows of items that stay are kept and glide to their new place; focus inside a row that goes moves to
 * the row now at its place.
 *
 * @param {HTMLElement} list
 * @param {Listed[]} items
 * @param {(id: Identifier) => number} choiceOf
 */
export function showItems(list, items, choiceOf) {
  const focused = focusIn(list)
  const old = new Map(/** @type {HTMLElement[]} */ ([...list.children]).map(row => [row.dataset.id, { row, top: row.offsetTop }]))
  const rows = items.map(item => {
    const kept = old.get(JSON.stringify(item.id))?.row
    if (!kept) return itemRow(item, choiceOf(item.id))
    updateRow(kept, item, choiceOf(item.id))
    return kept
  })
  list.replaceChildren(...rows)
  glide(rows, old)
  if (focused) restoreFocus(rows, focused)
}

/**
 * @typedef {{control: HTMLElement, action: string | undefined, place: number}} Focus
 *
 * @param {HTMLElement} list
 * @returns {Focus | null}
 */
function focusIn(list) {
  const control = /** @type {HTMLElement | null} */ (document.activeElement)
  const row = control?.closest('li')
  if (!control || !row || row.parentElement !== list) return null
  return { control, action: control.dataset.action, place: [...list.children].indexOf(row) }
}

/**
 * @param {HTMLElement[]} rows
 * @param {Focus} focus
 */
function restoreFocus(rows, { control, action, place }) {
  if (control.isConnected) control.focus({ preventScroll: true })
  else if (rows.length) inside(rows[Math.min(place, rows.length - 1)], `[data-action=${action}]`)?.focus()
}

/**
 * @param {HTMLElement[]} rows
 * @param {Map<string | undefined, {row: HTMLElement, top: number}>} old
 */
function glide(rows, old) {
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return
  const timing = { duration: 260, easing: 'cubic-bezier(.2, .7, .2, 1)' }
  const tops = rows.map(row => row.offsetTop) // all before the first animation: each one makes the browser lay out again
  rows.forEach((row, place) => {
    const before = old.get(row.dataset.id)
    const shift = before ? before.top - tops[place] : 0
    if (!before) row.animate([{ opacity: 0 }, { opacity: 1 }], timing)
    else if (shift) row.animate([{ transform: `translateY(${shift}px)` }, { transform: 'none' }], timing)
  })
}

/** @param {string[]} words */
export function joinWords(words) {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

/**
 * Move focus to the same control of the next or previous row.
 *
 * @param {HTMLElement} control
 * @param {number} step
 * @returns {boolean} whether there was one
 */
export function stepFocus(control, step) {
  /** @type {Element | null | undefined} */
  let other = control.closest('.row')
  do other = step > 0 ? other?.nextElementSibling : other?.previousElementSibling
  while (other && !other.matches('.row'))
  const target = other && inside(other, `[data-action=${control.dataset.action}]`)
  target?.focus()
  return Boolean(target)
}
