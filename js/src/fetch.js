/** Fetching a model file piece by piece, with progress, into one buffer. */

import { CannotFetch } from './errors.js'
import { load } from './model.js'

/** @typedef {{loaded: number, total: number | null}} Progress bytes so far, and of the whole where the server says */

const FIRST_GUESS = 1 << 20

/**
 * @param {string | URL} url
 * @param {{onProgress?: (progress: Progress) => void, signal?: AbortSignal}} [options]
 * @returns {Promise<import('./model.js').Model>}
 */
export async function loadFromUrl(url, { onProgress, signal } = {}) {
  const response = await fetch(url, { signal })
  if (!response.ok || !response.body) throw new CannotFetch(`${url}: the server answered ${response.status}`)
  const total = declaredLength(response)
  const reader = response.body.getReader()
  /** @type {Uint8Array} */
  let bytes = new Uint8Array(total ?? FIRST_GUESS)
  let loaded = 0
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    if (loaded + part.value.length > bytes.length) bytes = grown(bytes, loaded + part.value.length)
    bytes.set(part.value, loaded)
    loaded += part.value.length
    onProgress?.({ loaded, total })
  }
  return load(bytes.subarray(0, loaded))
}

/**
 * Content-Length counts compressed bytes where there is an encoding, so it is of use only without.
 *
 * @param {Response} response
 * @returns {number | null}
 */
function declaredLength({ headers }) {
  const length = Number(headers.get('content-length') ?? 0)
  return length > 0 && length < 2 ** 32 && !headers.get('content-encoding') ? length : null
}

/**
 * @param {Uint8Array} bytes
 * @param {number} needed
 * @returns {Uint8Array}
 */
function grown(bytes, needed) {
  const larger = new Uint8Array(Math.max(needed, 2 * bytes.length))
  larger.set(bytes)
  return larger
}
