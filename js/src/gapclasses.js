/**
 * Columns of rows as gaps in classes of widths, since format 1.2: a prefix code of at most 8 bits tells how many bits of a gap
 * follow. Rows lie one after the other.
 */

import { getTensor } from './container.js'
import { AmbiguousEncoding, BadCode, IndexOutOfRange, NonzeroPadding, WrongCount, WrongTensor } from './errors.js'

/** @typedef {import('./container.js').Container} Container */
/** @typedef {Uint8Array | Uint16Array | Uint32Array} Columns */

const MOST_CLASSES = 24
const LONGEST = 8

/**
 * Columns of all entries, checked in the order of the format.
 *
 * @param {Container} container
 * @param {string} name
 * @param {Uint32Array} start
 * @param {number} dim
 * @param {Columns} column where they go
 */
export function readGapClasses(container, name, start, dim, column) {
  if (container.entries.has(`${name}.gap.high`) || container.entries.has(`${name}.gap.low`)) {
    throw new AmbiguousEncoding(`table '${name}' holds its gaps in two ways`)
  }
  const lengths = readLengths(container, name)
  const stream = /** @type {Uint8Array} */ (getTensor(container, `${name}.gap.class`, ['U8'], [null]).data)
  const extra = /** @type {Uint8Array} */ (getTensor(container, `${name}.gap.extra`, ['U8'], [null]).data)
  const classes = readStream(`${name}.gap.class`, stream, column.length, lengths)
  let bits = 0
  for (let entry = 0; entry < classes.length; entry++) bits += classes[entry]
  checkEnd(`${name}.gap.extra`, extra, bits)
  let window = 0 // bits that are read but not used, and how many
  let held = 0
  let at = 0
  for (let row = 0; row + 1 < start.length; row++) {
    let next = 0
    for (let entry = start[row]; entry < start[row + 1]; entry++) {
      const width = classes[entry]
      for (; held < width; held += 8) window |= extra[at++] << held
      next += (1 << width) + (window & ((1 << width) - 1)) // a gap and its entry
      window >>>= width
      held -= width
      if (next > dim) throw new IndexOutOfRange(`table '${name}': a gap leads beyond column ${dim}`)
      column[entry] = next - 1
    }
  }
}

/**
 * Lengths of the codes of the classes; 0 where a class does not occur.
 *
 * @param {Container} container
 * @param {string} name
 * @returns {Uint8Array}
 */
function readLengths(container, name) {
  const lengths = /** @type {Uint8Array} */ (getTensor(container, `${name}.gap.length`, ['U8'], [null]).data)
  if (lengths.length < 1 || lengths.length > MOST_CLASSES) {
    throw new WrongTensor(`tensor '${name}.gap.length' has ${lengths.length} entries, expected 1 to ${MOST_CLASSES}`)
  }
  let codes = 0 // of LONGEST bits that begin with a code
  for (const length of lengths) codes += length > LONGEST ? Infinity : length ? 1 << LONGEST - length : 0
  if (codes !== 1 << LONGEST) {
    throw new BadCode(`tensor '${name}.gap.length': not the lengths of a complete code of at most ${LONGEST} bits`)
  }
  return lengths
}

/**
 * The class that every byte begins with the code of: canonical codes, shorter ones first, of one length by class, the first bit
 * lowest.
 *
 * @param {Uint8Array} lengths
 * @returns {Uint8Array}
 */
function classOfByte(lengths) {
  const found = new Uint8Array(1 << LONGEST)
  let next = 0 // the code to give, in LONGEST bits, the first bit highest
  for (let length = 1; length <= LONGEST; length++) {
    for (let kind = 0; kind < lengths.length; kind++) {
      if (lengths[kind] !== length) continue
      for (const end = next + (1 << LONGEST - length); next < end; next++) {
        let byte = 0
        for (let bit = 0; bit < LONGEST; bit++) byte |= (next >> bit & 1) << LONGEST - 1 - bit
        found[byte] = kind
      }
    }
  }
  return found
}

/**
 * @param {string} name
 * @param {Uint8Array} stream
 * @param {number} count
 * @param {Uint8Array} lengths
 * @returns {Uint8Array} the class of each gap
 */
function readStream(name, stream, count, lengths) {
  const ofByte = classOfByte(lengths)
  const classes = new Uint8Array(count)
  let bit = 0
  for (let entry = 0; entry < count; entry++) {
    const at = bit >>> 3
    if (at >= stream.length) throw new WrongCount(`'${name}' has ${stream.length} bytes, too few for ${count} entries`)
    const kind = ofByte[(stream[at] | stream[at + 1] << 8) >> (bit & 7) & 255]
    classes[entry] = kind
    bit += lengths[kind]
  }
  checkEnd(name, stream, bit)
  return classes
}

/**
 * @param {string} name
 * @param {Uint8Array} stream
 * @param {number} bits
 */
function checkEnd(name, stream, bits) {
  if (stream.length !== Math.ceil(bits / 8)) throw new WrongCount(`'${name}' has ${stream.length} bytes for ${bits} bits`)
  if (bits % 8 && stream[stream.length - 1] >> bits % 8) {
    throw new NonzeroPadding(`tensor '${name}': bits beyond the last are set`)
  }
}
