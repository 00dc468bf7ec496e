/** The sheet of one item: choose it, why it is suggested, what is like it. */

import { closeButton } from './about.js'
import { choiceButton, itemRow, make } from './view.js'

const SHOWN_REASONS = 5

/**
 * @typedef {import('./view.js').Shown & {score: number, liked: boolean | undefined}} Reason
 * @typedef {import('./view.js').Shown & {because: Reason[], similar: import('./view.js').Shown[]}} Described
 *
 * @param {Described} item
 * @param {(id: number | string) => number} choiceOf
 */
export function itemSheet(item, choiceOf) {
  const choice = choiceOf(item.id)
  const buttons = ['like', 'dislike'].map(action => choiceButton(action, item, true))
  buttons[0].setAttribute('aria-pressed', String(choice > 0))
  buttons[1].setAttribute('aria-pressed', String(choice < 0))
  return [
    closeButton(),
    make('h2', { id: 'item-title', class: 'title', tabIndex: -1 }, item.title),
    make('p', { class: 'quiet' }, item.tags.join(' · ')),
    make('div', { class: 'actions' }, ...buttons),
    ...why(item, choice),
    make('h3', {}, 'Similar'),
    make('ol', { class: 'items', 'aria-label': `Similar to ${item.title}` }, ...item.similar.map(other => itemRow(other, choiceOf(other.id)))),
  ]
}

/**
 * Each choice with its share of the score, largest first. One alone says nothing, and what you chose needs no reason.
 *
 * @param {Described} item
 * @param {number} choice
 */
function why(item, choice) {
  const parts = item.because.filter(part => part.score !== 0).sort((a, b) => Math.abs(b.score) - Math.abs(a.score))
  if (choice || parts.length < 2) return []
  const whole = parts.reduce((sum, part) => sum + Math.abs(part.score), 0)
  return [
    make('h3', {}, 'How your choices count'),
    make('ul', { class: 'reasons' }, ...parts.slice(0, SHOWN_REASONS).map(part => {
      const bar = make('span', { class: part.score > 0 ? 'weight' : 'weight against', 'aria-hidden': 'true' })
      const share = Math.round(100 * Math.abs(part.score) / whole)
      bar.style.width = `${share}%`
      const verb = part.liked ? 'You liked' : 'Not for you:'
      return make('li', {}, make('span', {}, `${verb} ${part.title}`), make('span', { class: 'quiet' }, `${part.score > 0 ? 'for' : 'against'} ${share}\u00a0%`), bar)
    })),
  ]
}
