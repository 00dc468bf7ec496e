/**
 * Many numbers that take few values: a short table of the values, and for each number its place in it, packed. Degrees, weights,
 * scales, row sizes and codes are all stored this way since format 1.1.
 */

import { getTensor } from './container.js'
import { LevelOutOfRange, NonzeroPadding, WrongCount, WrongTensor } from './errors.js'
import { bitsFor } from './exact.js'

/** @typedef {import('./container.js').Container} Container */

const MOST_LEVELS = 256

/**
 * The short table of values of some numbers.
 *
 * @param {Container} container
 * @param {string} name
 * @param {string[]} dtypes
 * @param {number} [least]
 * @returns {ReturnType<typeof getTensor>}
 */
export function readValues(container, name, dtypes, least = 1) {
  const values = getTensor(container, `${name}.value`, dtypes, [null])
  const { length } = values.data
  if (length < least || length > MOST_LEVELS) {
    throw new WrongTensor(`tensor '${name}.value' has ${length} entries, expected ${least} to ${MOST_LEVELS}`)
  }
  return values
}

/**
 * Which of so many values each number is. The length must fit, padding be 0, every value exist.
 *
 * @param {Container} container
 * @param {string} name
 * @param {number} count
 * @param {number} values how many there are
 * @returns {Uint8Array}
 */
export function readLevels(container, name, count, values) {
  const bits = bitsFor(values)
  const packed = /** @type {Uint8Array} */ (getTensor(container, `${name}.level`, ['U8'], [null]).data)
  if (packed.length !== Math.ceil(count * bits / 8)) {
    throw new WrongCount(`'${name}.level' has ${packed.length} bytes, ${count} numbers of ${bits} bits need another length`)
  }
  if (count * bits % 8 && packed[packed.length - 1] >> count * bits % 8) {
    throw new NonzeroPadding(`tensor '${name}.level': bits beyond the last number are set`)
  }
  const levels = unpackLevels(packed, count, bits)
  if (values < 1 << bits) {
    for (let j = 0; j < count; j++) {
      if (levels[j] >= values) throw new LevelOutOfRange(`'${name}.level' names value ${levels[j]} of ${values}`)
    }
  }
  return levels
}

/**
 * Numbers of so many bits back to back, lowest bit first; where they are bytes, a view of the file.
 *
 * @param {Uint8Array} packed
 * @param {number} count
 * @param {number} bits
 * @returns {Uint8Array}
 */
function unpackLevels(packed, count, bits) {
  if (bits === 8) return packed
  const levels = new Uint8Array(count)
  const mask = (1 << bits) - 1
  for (let j = 0, window = 0, held = 0, at = 0; bits && j < count; j++) {
    if (held < bits) {
      window |= packed[at++] << held
      held += 8
    }
    levels[j] = window & mask
    window >>>= bits
    held -= bits
  }
  return levels
}
