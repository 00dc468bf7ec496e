/** Search by title, blind to case and accents. */

/** @typedef {import('./view.js').Shown} Found */

/**
 * Letters that do not come apart into a base letter and an accent.
 *
 * @type {Record<string, string>}
 */
const SPELLED_OUT = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ı: 'i' }
const NO_MATCH = 3

/**
 * A function that finds items by words of their title or by their exact id: titles that start with the text come first, then
 * those where every word starts a word, then the rest; popular ones first within each.
 *
 * @param {Found[]} catalogue
 * @returns {(text: string, k: number) => {items: Found[], total: number}}
 */
export function buildSearch(catalogue) {
  const items = [...catalogue].sort((a, b) => b.popularity - a.popularity) // the order of the file among equals
  const titles = foldAll(items.map(({ title }) => title))
  const ids = items.map(({ id }) => String(id).toLowerCase())
  return (text, k) => {
    const wanted = foldText(text)
    const words = wanted.split(' ')
    const exact = text.trim().toLowerCase()
    /** @type {Found[][]} */
    const found = [[], [], []]
    let total = 0
    for (let place = 0; wanted && place < titles.length; place++) {
      const rank = ids[place] === exact ? 0 : matchRank(titles[place], wanted, words)
      if (rank === NO_MATCH) continue
      total++
      if (found[rank].length < k) found[rank].push(items[place])
    }
    return { items: found.flat().slice(0, k), total }
  }
}

/**
 * Lower case, no accents, one space between words.
 *
 * @param {string} text may have several lines
 * @returns {string}
 */
export function foldText(text) {
  return text.normalize('NFKD').toLowerCase().replace(/\p{M}+/gu, '')
    .replace(/[ßæœøłđðþı]/g, letter => SPELLED_OUT[letter])
    .replace(/[^\p{L}\p{N}\n]+/gu, ' ').replace(/^ | $/gm, '')
}

/**
 * Many titles folded as one text, which is several times faster than one by one; each gets a space in front.
 *
 * @param {string[]} titles
 */
function foldAll(titles) {
  return foldText(titles.map(title => title.replace(/\s+/g, ' ')).join('\n')).split('\n').map(title => ` ${title}`)
}

/**
 * @param {string} title
 * @param {string} wanted
 * @param {string[]} words
 */
function matchRank(title, wanted, words) {
  for (const word of words) if (!title.includes(word)) return NO_MATCH
  if (title.startsWith(wanted, 1)) return 0
  return words.every(word => title.includes(` ${word}`)) ? 1 : 2
}
