/** Many short strings in one blob with offsets. */

import { getTensor } from './container.js'
import { BadText, BadTextOffsets } from './errors.js'

/** @typedef {import('./container.js').Container} Container */
/** @typedef {{count: number, offset: Uint32Array, text: Uint8Array, decoder: TextDecoder}} TextTable */

/**
 * Whether any tensor of a text table is there.
 *
 * @param {Container} container
 * @param {string} name
 * @returns {boolean}
 */
export function hasText({ entries }, name) {
  return entries.has(`${name}.offset`) || entries.has(`${name}.text`)
}

/**
 * Check a text table of `count` strings (any number if null).
 *
 * @param {Container} container
 * @param {string} name
 * @param {number | null} count
 * @returns {TextTable}
 */
export function readText(container, name, count) {
  const shape = [count === null ? null : count + 1]
  const offset = /** @type {Uint32Array} */ (getTensor(container, `${name}.offset`, ['U32'], shape).data)
  const text = /** @type {Uint8Array} */ (getTensor(container, `${name}.text`, ['U8'], [null]).data)
  if (!risesTo(offset, text.length)) {
    throw new BadTextOffsets(`text table '${name}': offsets do not run from 0 to ${text.length} without falling`)
  }
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  try {
    decoder.decode(text)
  } catch {
    throw new BadText(`text table '${name}' is not valid UTF-8`)
  }
  for (let j = 0; j < offset.length; j++) {
    if ((text[offset[j]] & 0xc0) === 0x80) throw new BadText(`text table '${name}': an offset points inside a character`)
  }
  return { count: offset.length - 1, offset, text, decoder }
}

/**
 * String j of a table.
 *
 * @param {TextTable} table
 * @param {number} j
 * @returns {string}
 */
export function textAt({ offset, text, decoder }, j) {
  return decoder.decode(text.subarray(offset[j], offset[j + 1]))
}

/**
 * Order of a string of a table and some bytes, by their bytes.
 *
 * @param {TextTable} table
 * @param {number} j
 * @param {Uint8Array} other
 * @param {number} [from]
 * @param {number} [to] the part of `other` to compare with
 * @returns {number} negative, 0 or positive
 */
export function compareText({ offset, text }, j, other, from = 0, to = other.length) {
  const begin = offset[j]
  const length = offset[j + 1] - begin
  const shared = Math.min(length, to - from)
  for (let k = 0; k < shared; k++) {
    if (text[begin + k] !== other[from + k]) return text[begin + k] - other[from + k]
  }
  return length - (to - from)
}

/**
 * @param {Uint32Array} offset
 * @param {number} end
 * @returns {boolean}
 */
function risesTo(offset, end) {
  if (offset[0] !== 0 || offset[offset.length - 1] !== end) return false
  for (let j = 1; j < offset.length; j++) if (offset[j] < offset[j - 1]) return false
  return true
}
