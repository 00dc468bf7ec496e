/**
 * Sums that come out the same in every language: operands are rounded to a grid on which float64 addition is exact.
 * So the loops elsewhere are free to add in whatever order is fast.
 */

const FLOAT = new Float64Array(1)
const WORDS = new Uint32Array(FLOAT.buffer)

/**
 * Smallest power of two above a positive number, read off the bits of the float.
 *
 * @param {number} value
 * @returns {number}
 */
export function powerAbove(value) {
  FLOAT[0] = value
  const exponent = WORDS[1] >>> 20
  if (exponent === 0) return powerAbove(value * 2 ** 64) / 2 ** 64 // subnormal
  WORDS[0] = 0
  WORDS[1] = (exponent + 1) << 20
  return FLOAT[0]
}

/**
 * Round to multiples of p * 2^-bits, p the smallest power of two above the largest magnitude. In place: callers own the values.
 *
 * @param {Float64Array} values
 * @param {number} bits
 * @returns {boolean} whether any value was not zero
 */
export function snap(values, bits) {
  let largest = 0
  for (let j = 0; j < values.length; j++) {
    const size = Math.abs(values[j])
    if (size > largest) largest = size
  }
  if (largest === 0) return false
  const shift = 1.5 * powerAbove(largest) * 2 ** (52 - bits)
  for (let j = 0; j < values.length; j++) values[j] = (values[j] + shift) - shift
  return true
}

/**
 * Smallest b with 2^b >= count.
 *
 * @param {number} count
 * @returns {number}
 */
export function bitsFor(count) {
  return count > 1 ? 32 - Math.clz32(count - 1) : 0
}
