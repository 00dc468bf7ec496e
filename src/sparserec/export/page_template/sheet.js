/** The sheet of one item: choose it, why it is suggested, what is like it. */

import { closeButton } from './about.js'
import { choiceButton, itemRow, make } from './view.js'

const SHOWN_REASONS = 5

/**
 * @param {any} item with `because` and `similar`
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

/** Each choice with its share of the score, largest first; what you chose yourself needs no reason. */
function why(item, choice) {
  const parts = item.because.filter(part => part.score !== 0).sort((a, b) => Math.abs(b.score) - Math.abs(a.score)).slice(0, SHOWN_REASONS)
  if (choice || !parts.length) return []
  const largest = Math.abs(parts[0].score)
  return [
    make('h3', {}, 'How your choices count'),
    make('ul', { class: 'reasons' }, ...parts.map(part => {
      const bar = make('span', { class: part.score > 0 ? 'weight' : 'weight against', 'aria-hidden': 'true' })
      bar.style.width = `${100 * Math.abs(part.score) / largest}%`
      const verb = part.liked ? 'You liked' : 'Not for you:'
      return make('li', {}, make('span', {}, `${verb} ${part.title}`), make('span', { class: 'quiet' }, part.score > 0 ? 'for' : 'against'), bar)
    })),
  ]
}
