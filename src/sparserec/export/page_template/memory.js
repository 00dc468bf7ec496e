/** What the visitor chose. Kept in the browser's storage while there is a choice to keep, and nowhere else. */

const LIKED = 1
const DISLIKED = -1
/** A dislike counts half: it should steer, not turn the list into the opposite of one item. */
const DISLIKE_WEIGHT = -0.5

/** @typedef {import('./view.js').Identifier} Identifier */
/** @typedef {[Identifier, number][]} Choices items with 1 for liked, -1 for not */

/**
 * Choices by item id, in the order they were made.
 *
 * @param {string} key under which this model's choices are stored
 */
export function openMemory(key) {
  let choices = new Map(readChoices(key))
  let storable = true
  const save = () => { storable = writeChoices(key, choices) }
  return {
    choice: (/** @type {Identifier} */ id) => choices.get(id) ?? 0,
    liked: () => idsWith(choices, LIKED),
    disliked: () => idsWith(choices, DISLIKED),
    size: () => choices.size,
    storable: () => storable,
    /** @returns {Choices} */
    profile: () => [...choices].map(([id, choice]) => [id, choice === LIKED ? 1 : DISLIKE_WEIGHT]),
    snapshot: () => [...choices],
    restore: (/** @type {Choices} */ entries) => { choices = new Map(entries); save() },
    reload: () => { choices = new Map(readChoices(key)) },
    /**
     * @param {Identifier} id
     * @param {number} choice 0: none
     */
    choose(id, choice) {
      choices.delete(id)
      if (choice) choices.set(id, choice)
      save()
    },
  }
}

/**
 * @param {Map<Identifier, number>} choices
 * @param {number} wanted
 */
function idsWith(choices, wanted) {
  return [...choices].filter(([, choice]) => choice === wanted).map(([id]) => id)
}

/**
 * Storage may be forbidden, or hold what something else wrote: both count as no choices.
 *
 * @param {string} key
 * @returns {Choices}
 */
function readChoices(key) {
  try {
    /** @type {Choices} */
    const entries = JSON.parse(localStorage.getItem(key) ?? '[]')
    return entries.filter(([id, choice]) => ['string', 'number'].includes(typeof id) && [LIKED, DISLIKED].includes(choice))
  } catch {
    return []
  }
}

/**
 * @param {string} key
 * @param {Map<Identifier, number>} choices
 * @returns {boolean} whether that was possible
 */
function writeChoices(key, choices) {
  try {
    if (choices.size) localStorage.setItem(key, JSON.stringify([...choices]))
    else localStorage.removeItem(key)
    return true
  } catch {
    return false
  }
}
