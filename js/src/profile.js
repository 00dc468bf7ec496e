/** What kind of model a file says it is: the fields of `__metadata__.model`, checked. */

import { isCount, isObject } from './container.js'
import { BadMetadata } from './errors.js'
import { parseJson } from './json.js'

const MODES = ['items', 'full', 'personal', 'neighbours']
const ID_KINDS = ['range', 'int', 'string']
const SIZE_POWERS = [0, 0.5, 1]
const MOST_NODES = 2 ** 24 - 1

/**
 * @typedef {object} Profile
 * @property {string} mode items, full, personal or neighbours
 * @property {string} base name of the recommender
 * @property {number} items
 * @property {number} users
 * @property {number} dim
 * @property {boolean} selfLoops
 * @property {number} foldTables
 * @property {string} itemIds range, int or string
 * @property {string | null} userIds
 * @property {string | number | null} userId
 * @property {number | null} sizePower null: the fold-in weights are those of the degrees, as in 1.0
 */

/**
 * Check field by field, in the order of docs/format.md.
 *
 * @param {Record<string, string>} metadata
 * @returns {Profile}
 */
export function readProfile(metadata) {
  const raw = readObject(metadata, 'model')
  const mode = oneOf(raw, 'mode', MODES)
  const full = mode === 'full'
  const items = countBetween(raw, 'items', 1, MOST_NODES)
  const users = countBetween(raw, 'users', full ? 1 : 0, MOST_NODES)
  const dim = countBetween(raw, 'dim', 1, 65536)
  const selfLoops = raw.self_loops
  if (typeof selfLoops !== 'boolean') throw new BadMetadata('model.self_loops is not true or false')
  const foldTables = countBetween(raw, 'fold_tables', 0, full || mode === 'neighbours' ? 0 : selfLoops ? 64 : 1)
  const itemIds = oneOf(raw, 'item_ids', ID_KINDS)
  const userIds = full ? oneOf(raw, 'user_ids', ID_KINDS) : null
  if (typeof raw.base !== 'string') throw new BadMetadata('model.base is not text')
  const userId = mode === 'personal' ? raw.user_id ?? null : null
  if (userId !== null && typeof userId !== 'string' && !Number.isSafeInteger(userId)) {
    throw new BadMetadata('model.user_id is neither text nor an integer')
  }
  const weighted = Object.hasOwn(raw, 'fold_in') || mode === 'neighbours'
  const sizePower = weighted ? readSizePower(raw.fold_in, !full && !selfLoops) : null
  return { mode, base: raw.base, items, users, dim, selfLoops, foldTables, itemIds, userIds, userId, sizePower }
}

/**
 * @param {any} foldIn
 * @param {boolean} allowed
 * @returns {number}
 */
function readSizePower(foldIn, allowed) {
  if (!allowed || !isObject(foldIn) || !SIZE_POWERS.includes(foldIn.size_power)) {
    throw new BadMetadata('model.fold_in needs a size_power of 0, .5 or 1, in modes other than full without self-loops')
  }
  return foldIn.size_power
}

/**
 * A JSON object kept as text in the metadata.
 *
 * @param {Record<string, string>} metadata
 * @param {string} key
 * @returns {Record<string, any>}
 */
export function readObject(metadata, key) {
  if (!Object.hasOwn(metadata, key)) throw new BadMetadata(`__metadata__.${key} is missing`)
  let value
  try {
    value = parseJson(metadata[key])
  } catch (error) {
    throw new BadMetadata(`__metadata__.${key}: ${error instanceof Error ? error.message : error}`)
  }
  if (!isObject(value)) throw new BadMetadata(`__metadata__.${key} is not an object`)
  return value
}

/**
 * @param {Record<string, any>} raw
 * @param {string} key
 * @param {string[]} options
 * @returns {string}
 */
function oneOf(raw, key, options) {
  if (!options.includes(raw[key])) throw new BadMetadata(`model.${key} is not one of ${options.join(', ')}`)
  return raw[key]
}

/**
 * @param {Record<string, any>} raw
 * @param {string} key
 * @param {number} least
 * @param {number} most
 * @returns {number}
 */
function countBetween(raw, key, least, most) {
  const value = raw[key]
  if (!isCount(value) || value < least || value > most) {
    throw new BadMetadata(`model.${key} is not an integer from ${least} to ${most}`)
  }
  return value
}
