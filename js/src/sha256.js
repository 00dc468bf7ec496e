/**
 * SHA-256 of a model file, whose own 64 digits count as zeros. WebCrypto is used where there is one; a page opened from
 * file:// may have none, hence the plain version.
 */

export const DIGEST_START = 35
export const DIGEST_END = DIGEST_START + 64
const ZERO_CHARACTER = 48
const INITIAL = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19]

/**
 * Digest by WebCrypto, or by the plain version where that is missing.
 *
 * @param {Uint8Array} bytes
 * @returns {Promise<string>} 64 hex digits
 */
export async function fileDigest(bytes) {
  const subtle = globalThis.crypto?.subtle
  if (!subtle) return plainFileDigest(bytes)
  const copy = bytes.slice().fill(ZERO_CHARACTER, DIGEST_START, DIGEST_END)
  const digest = new Uint8Array(await subtle.digest('SHA-256', copy))
  return Array.from(digest, byte => byte.toString(16).padStart(2, '0')).join('')
}

/**
 * Digest in plain JavaScript, without a copy of the file.
 *
 * @param {Uint8Array} bytes
 * @returns {string} 64 hex digits
 */
export function plainFileDigest(bytes) {
  const head = bytes.slice(0, 128).fill(ZERO_CHARACTER, DIGEST_START, DIGEST_END)
  const state = new Int32Array(INITIAL)
  const words = new Int32Array(64)
  const constants = roundConstants()
  const whole = bytes.length >> 6
  for (let block = 0; block < whole; block++) {
    mixBlock(state, words, constants, block < 2 ? head : bytes, block * 64)
  }
  const tail = paddedTail(whole < 2 ? head : bytes, whole * 64, bytes.length)
  for (let at = 0; at < tail.length; at += 64) mixBlock(state, words, constants, tail, at)
  return Array.from(state, word => (word >>> 0).toString(16).padStart(8, '0')).join('')
}

/**
 * Fractional bits of the cube roots of the first 64 primes.
 *
 * @returns {Int32Array}
 */
function roundConstants() {
  const constants = new Int32Array(64)
  for (let candidate = 2, found = 0; found < 64; candidate++) {
    let divisor = 2
    while (divisor * divisor <= candidate && candidate % divisor) divisor++
    if (divisor * divisor > candidate) constants[found++] = (Math.cbrt(candidate) % 1) * 2 ** 32
  }
  return constants
}

/**
 * What follows the last whole block: a 1 bit, zeros, the length in bits.
 *
 * @param {Uint8Array} source
 * @param {number} from
 * @param {number} length
 * @returns {Uint8Array}
 */
function paddedTail(source, from, length) {
  const rest = length - from
  const tail = new Uint8Array(rest < 56 ? 64 : 128)
  tail.set(source.subarray(from, length))
  tail[rest] = 0x80
  const view = new DataView(tail.buffer)
  view.setUint32(tail.length - 8, Math.floor(length / 2 ** 29))
  view.setUint32(tail.length - 4, length * 8)
  return tail
}

/**
 * One round of the hash on 64 bytes.
 *
 * @param {Int32Array} state
 * @param {Int32Array} words scratch
 * @param {Int32Array} constants
 * @param {Uint8Array} bytes
 * @param {number} at
 */
function mixBlock(state, words, constants, bytes, at) {
  for (let i = 0; i < 16; i++, at += 4) {
    words[i] = (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3]
  }
  for (let i = 16; i < 64; i++) {
    const early = words[i - 15]
    const late = words[i - 2]
    const mixedEarly = ((early >>> 7) | (early << 25)) ^ ((early >>> 18) | (early << 14)) ^ (early >>> 3)
    const mixedLate = ((late >>> 17) | (late << 15)) ^ ((late >>> 19) | (late << 13)) ^ (late >>> 10)
    words[i] = (words[i - 16] + mixedEarly + words[i - 7] + mixedLate) | 0
  }
  let a = state[0]
  let b = state[1]
  let c = state[2]
  let d = state[3]
  let e = state[4]
  let f = state[5]
  let g = state[6]
  let h = state[7]
  for (let i = 0; i < 64; i++) {
    const rotatedE = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
    const first = (h + rotatedE + ((e & f) ^ (~e & g)) + constants[i] + words[i]) | 0
    const rotatedA = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
    const second = (rotatedA + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + first) | 0
    d = c
    c = b
    b = a
    a = (first + second) | 0
  }
  state[0] += a
  state[1] += b
  state[2] += c
  state[3] += d
  state[4] += e
  state[5] += f
  state[6] += g
  state[7] += h
}
