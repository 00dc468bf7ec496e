/** Pieces of the page: elements, rows of items, and lists that keep rows, focus and motion when they change. */

const SVG = 'http://www.w3.org/2000/svg'

/**
 * An element with properties and children; text is never parsed as HTML.
 *
 * @param {string} name
 * @param {Record<string, any>} [properties] `class`, `aria-*` and `data-*` become attributes
 * @param {...(Node | string | null)} children
 */
export function make(name, properties = {}, ...children) {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(properties)) {
    if (key === 'class' || key.includes('-')) element.setAttribute(key, value)
    else element[key] = value
  }
  element.append(...children.filter(child => child !== null))
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

/** A row of a list: what it is, why it is here, and two buttons. */
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

/** A title that opens its sheet; one too long for two lines is cut. */
export function titleButton(title, name = title) {
  return make('button', { class: 'title', type: 'button', 'data-action': 'open', 'aria-haspopup': 'dialog', title }, make('span', { class: 'name' }, name))
}

/** A title without the year at its end, which has a place of its own where no cut can reach it. */
function apart(title) {
  const [, name, year] = /^(.*?)(?:\s\((\d{4})\))?$/s.exec(title)
  return name ? { name, year } : { name: title }
}

/** What may change while a row stays: its reasons and its buttons. */
function updateRow(row, item, choice) {
  row.querySelector('.because').textContent = item.because?.length ? `Because you liked ${joinWords(item.because)}` : ''
  row.querySelector('[data-action=like]').setAttribute('aria-pressed', String(choice > 0))
  row.querySelector('[data-action=dislike]').setAttribute('aria-pressed', String(choice < 0))
}

/** The item that a control inside a row or sheet belongs to. */
export function itemOf(element) {
  const holder = element.closest('[data-id]')
  return holder ? { id: JSON.parse(holder.dataset.id), title: fullTitle(holder.querySelector('.title')) } : null
}

function fullTitle(element) {
  return element.title || element.textContent
}

export function choiceButton(action, item, worded) {
  const label = action === 'like' ? 'Like' : 'Not for me'
  const properties = { class: worded ? `choice worded ${action}` : `choice ${action}`, type: 'button', 'data-action': action, title: label, 'aria-pressed': 'false' }
  if (!worded) properties['aria-label'] = `${label}: ${item.title}`
  return make('button', properties, icon(action), worded ? label : null)
}

/** A letter on a colour that items of the same first tag share. */
function tile(item) {
  const letter = make('span', { class: 'tile', 'aria-hidden': 'true' }, [...item.title][0].toUpperCase())
  let hash = 7
  for (const character of item.tags[0] ?? item.title) hash = (hash * 31 + character.codePointAt(0)) % 65521
  letter.style.setProperty('--hue', String(hash * 137 % 360)) // near hashes, far hues
  return letter
}

/**
 * Show items in a list: rows of items that stay are kept and glide to their new place; focus inside a row that goes moves to
 * the row now at its place.
 *
 * @param {HTMLElement} list
 * @param {any[]} items
 * @param {(id: number | string) => number} choiceOf
 */
export function showItems(list, items, choiceOf) {
  const focused = focusIn(list)
  const old = new Map([...list.children].map(row => [row.dataset.id, { row, top: row.offsetTop }]))
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

function focusIn(list) {
  const row = document.activeElement?.closest('li')
  if (!row || row.parentElement !== list) return null
  return { control: document.activeElement, action: document.activeElement.dataset.action, place: [...list.children].indexOf(row) }
}

function restoreFocus(rows, { control, action, place }) {
  if (control.isConnected) control.focus({ preventScroll: true })
  else rows[Math.min(place, rows.length - 1)]?.querySelector(`[data-action=${action}]`)?.focus()
}

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

/** Move focus to the same control of the next or previous row. */
export function stepFocus(control, step) {
  const row = control.closest('.row')
  let other = row
  do other = step > 0 ? other.nextElementSibling : other.previousElementSibling
  while (other && !other.matches('.row'))
  const target = other?.querySelector(`[data-action=${control.dataset.action}]`)
  target?.focus()
  return Boolean(target)
}
