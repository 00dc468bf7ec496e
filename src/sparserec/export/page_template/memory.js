/** What the visitor chose. Kept in the browser's storage while there is a choice to keep, and nowhere else. */

const LIKED = 1
const DISLIKED = -1
/** A dislike counts half: it should steer, not turn the list into the opposite of one item. */
const DISLIKE_WEIGHT = -0.5

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
    choice: id => choices.get(id) ?? 0,
    liked: () => idsWith(choices, LIKED),
    disliked: () => idsWith(choices, DISLIKED),
    size: () => choices.size,
    storable: () => storable,
    profile: () => [...choices].map(([id, choice]) => [id, choice === LIKED ? 1 : DISLIKE_WEIGHT]),
    snapshot: () => [...choices],
    restore: entries => { choices = new Map(entries); save() },
    reload: () => { choices = new Map(readChoices(key)) },
    choose(id, choice) {
      choices.delete(id)
      if (choice) choices.set(id, choice)
      save()
    },
  }
}

function idsWith(choices, wanted) {
  return [...choices].filter(([, choice]) => choice === wanted).map(([id]) => id)
}

/** Storage may be forbidden, or hold what something else wrote: both count as no choices. */
function readChoices(key) {
  try {
    const entries = JSON.parse(localStorage.getItem(key) ?? '[]')
    return entries.filter(([id, choice]) => ['string', 'number'].includes(typeof id) && [LIKED, DISLIKED].includes(choice))
  } catch {
    return []
  }
}

function writeChoices(key, choices) {
  try {
    if (choices.size) localStorage.setItem(key, JSON.stringify([...choices]))
    else localStorage.removeItem(key)
    return true
  } catch {
    return false
  }
}
