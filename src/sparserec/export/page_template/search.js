/** Search by title, blind to case and accents. */

/** Letters that do not come apart into a base letter and an accent. */
const SPELLED_OUT = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ı: 'i' }

/**
 * A function that finds items by words of their title or by their exact id: titles that start with the text come first, then
 * those where every word starts a word, then the rest; popular ones first within each.
 *
 * @param {{id: number | string, title: string | null}[]} catalogue
 * @param {ArrayLike<number>} popularity
 * @returns {(text: string, k: number) => {indices: number[], total: number}}
 */
export function buildSearch(catalogue, popularity) {
  const folded = catalogue.map(({ id, title }) => ` ${foldText(title || `Item ${id}`)}`)
  const ids = catalogue.map(({ id }) => String(id).toLowerCase())
  return (text, k) => {
    const wanted = foldText(text)
    if (!wanted) return { indices: [], total: 0 }
    const words = wanted.split(' ')
    const exact = text.trim().toLowerCase()
    const found = []
    for (let index = 0; index < folded.length; index++) {
      const rank = ids[index] === exact ? 0 : matchRank(folded[index], wanted, words)
      if (rank < 3) found.push({ index, rank })
    }
    found.sort((a, b) => a.rank - b.rank || popularity[b.index] - popularity[a.index] || a.index - b.index)
    return { indices: found.slice(0, k).map(({ index }) => index), total: found.length }
  }
}

/**
 * Lower case, no accents, one space between words.
 *
 * @param {string} text
 * @returns {string}
 */
export function foldText(text) {
  const plain = text.toLowerCase()
  const letters = /[^\0-\x7f]/.test(plain)
    ? plain.normalize('NFKD').replace(/\p{M}/gu, '').replace(/[ßæœøłđðþı]/g, letter => SPELLED_OUT[letter])
    : plain
  return letters.replace(/[^\p{L}\p{N}]+/gu, ' ').trim()
}

function matchRank(title, wanted, words) {
  for (const word of words) if (!title.includes(word)) return 3
  if (title.startsWith(wanted, 1)) return 0
  return words.every(word => title.includes(` ${word}`)) ? 1 : 2
}
