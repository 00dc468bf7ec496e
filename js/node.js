/** The same reader with access to files. */

import { readFile } from 'node:fs/promises'
import { load } from './src/model.js'

export * from './index.js'

/**
 * Open a model file.
 *
 * @param {string | URL} path
 * @returns {Promise<import('./src/model.js').Model>}
 */
export async function loadFile(path) {
  return load(await readFile(path))
}
