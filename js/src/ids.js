/** External ids: strings or integers, found by binary search in the file itself, no map built. */

import { getTensor } from './container.js'
import { BadIds } from './errors.js'
import { compareText, readText, textAt } from './text.js'

/** @typedef {import('./container.js').Container} Container */
/** @typedef {number | string} Identifier */
/** @typedef {{at: (index: number) => Identifier, find: (id: Identifier) => number}} Ids find gives -1 for an unknown id */

/**
 * Check that the ids strictly ascend in the order stored with them, which makes lookup a binary search.
 *
 * @param {Container} container
 * @param {string} name
 * @param {string} kind range, int or string
 * @param {number} count
 * @returns {Ids}
 */
export function readIds(container, name, kind, count) {
  if (kind === 'range') return rangeIds(count)
  return kind === 'int' ? readIntegers(container, name, count) : readStrings(container, name, count)
}

/**
 * @param {number} count
 * @returns {Ids}
 */
function rangeIds(count) {
  return {
    at: index => index,
    find(id) {
      const number = asInteger(id)
      return number >= 0 && number < count ? number : -1
    },
  }
}

/**
 * @param {Container} container
 * @param {string} name
 * @param {number} count
 * @returns {Ids}
 */
function readIntegers(container, name, count) {
  const tensor = getTensor(container, name, ['I32', 'I64'], [count])
  const words = /** @type {Int32Array} */ (tensor.data)
  /** @type {(index: number) => number} */
  const at = tensor.dtype === 'I32'
    ? index => words[index]
    : index => words[2 * index + 1] * 2 ** 32 + (words[2 * index] >>> 0)
  for (let index = 0; index < count; index++) {
    if (!Number.isSafeInteger(at(index))) throw new BadIds(`${name}: an integer id is beyond 2^53 - 1`)
  }
  const place = readOrder(container, name, count)
  checkAscending(name, count, position => at(place(position - 1)) < at(place(position)))
  return {
    at,
    find(id) {
      const wanted = asInteger(id)
      return Number.isNaN(wanted) ? -1 : search(count, place, index => at(index) - wanted)
    },
  }
}

/**
 * @param {Container} container
 * @param {string} name
 * @param {number} count
 * @returns {Ids}
 */
function readStrings(container, name, count) {
  const table = readText(container, name, count)
  const { offset, text } = table
  const place = readOrder(container, name, count)
  checkAscending(name, count, position => {
    const next = place(position)
    return compareText(table, place(position - 1), text, offset[next], offset[next + 1]) < 0
  })
  const encoder = new TextEncoder()
  return {
    at: index => textAt(table, index),
    find(id) {
      const wanted = encoder.encode(String(id))
      const index = search(count, place, candidate => compareText(table, candidate, wanted))
      return index >= 0 && textAt(table, index) === String(id) ? index : -1 // half a surrogate pair encodes as another character
    },
  }
}

/**
 * Which id comes at a position when they are read in ascending order.
 *
 * @param {Container} container
 * @param {string} name
 * @param {number} count
 * @returns {(position: number) => number}
 */
function readOrder(container, name, count) {
  if (!container.entries.has(`${name}.order`)) return position => position
  const order = getTensor(container, `${name}.order`, ['U32'], [count]).data
  for (let position = 0; position < count; position++) {
    if (order[position] >= count) throw new BadIds(`${name}.order: an entry is beyond the last id`)
  }
  return position => order[position]
}

/**
 * @param {string} name
 * @param {number} count
 * @param {(position: number) => boolean} ascends whether the id at a position comes after the one before
 */
function checkAscending(name, count, ascends) {
  for (let position = 1; position < count; position++) {
    if (!ascends(position)) throw new BadIds(`${name}: ids do not strictly ascend in their order, or occur twice`)
  }
}

/**
 * @param {number} count
 * @param {(position: number) => number} place
 * @param {(index: number) => number} compare the id at an index with the wanted one
 * @returns {number} its index, or -1
 */
function search(count, place, compare) {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    const order = compare(place(middle))
    if (order === 0) return place(middle)
    if (order < 0) low = middle + 1
    else high = middle
  }
  return -1
}

/**
 * The integer that an id is or spells as integers are written, or NaN: not '+1', '01' or '-0'.
 *
 * @param {Identifier} id
 * @returns {number}
 */
function asInteger(id) {
  const number = Number(id) + 0 // -0 is 0
  return Number.isSafeInteger(number) && String(number) === String(id) ? number : NaN
}
