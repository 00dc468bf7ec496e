/**
 * Load time, milliseconds per top-20 query and memory: `node bench.js [FILE ..]`. Without a file, made-up models of the size of
 * Gowalla stand in.
 */

import { readFileSync } from 'node:fs'
import { load } from './index.js'
import { fullFile, GOWALLA, itemsFile, randomNumbers } from './test/synthetic.js'

const ROUNDS = 60
const HISTORY = 30

/**
 * @param {() => unknown} action
 * @returns {number} milliseconds
 */
function timed(action) {
  const start = performance.now()
  action()
  return performance.now() - start
}

/**
 * Median over many calls, each with its round.
 *
 * @param {(round: number) => unknown} action
 * @returns {string}
 */
function median(action) {
  for (let round = 0; round < 10; round++) action(round + ROUNDS)
  const times = Array.from({ length: ROUNDS }, (_, round) => timed(() => action(round))).sort((a, b) => a - b)
  return times[ROUNDS >> 1].toFixed(2)
}

/** @returns {number} bytes held by JavaScript, buffers included */
function heldBytes() {
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/**
 * @param {string} name
 * @param {Uint8Array} bytes
 */
async function measure(name, bytes) {
  const loads = []
  for (let round = 0; round < 5; round++) {
    const start = performance.now()
    await load(bytes)
    loads.push(performance.now() - start)
  }
  const before = heldBytes()
  const model = await load(bytes)
  const { mode, items } = model.card()
  const ids = Array.from(model.catalogue(), ({ id }) => id)
  const random = randomNumbers(7)
  const histories = Array.from({ length: ROUNDS + 10 }, () =>
    Array.from({ length: HISTORY }, () => ids[Math.floor(random() * items)]))
  const fresh = median(round => model.recommend({ history: histories[round] }))
  const cached = median(() => model.recommend({ history: histories[0] }))
  const similar = median(round => model.similar({ item: histories[round][0] }))
  const explain = median(round => model.explain({ history: histories[round], item: ids[0] }))
  ids.length = 0
  console.log([
    name.padEnd(22), mode.padEnd(8), (bytes.length / 1e6).toFixed(2).padStart(6), loads.sort((a, b) => a - b)[2].toFixed(1).padStart(7),
    fresh.padStart(8), cached.padStart(8), similar.padStart(8), explain.padStart(8),
    ((heldBytes() - before) / 1e6).toFixed(1).padStart(7),
  ].join(' '))
}

console.log('file                   mode         MB load ms    query   cached  similar  explain held MB   (ms, median of '
  + `${ROUNDS}; node ${process.version}${globalThis.gc ? '' : '; run with --expose-gc for memory'})`)
const files = process.argv.slice(2)
for (const file of files) await measure(file.split('/').pop() ?? file, readFileSync(file))
if (!files.length) {
  const items = { ...GOWALLA, perRow: 32 }
  await measure('items byte-index int8', itemsFile(items, 'byte-index'))
  await measure('items bitmask int8', itemsFile(items, 'bitmask'))
  await measure('items byte-index int4', itemsFile(items, 'byte-index', { bits: 4 }))
  await measure('items dense int8', itemsFile(items, 'dense'))
  await measure('full bitmask int8', fullFile(GOWALLA, 'bitmask'))
  await measure('full self-loops int4', fullFile(GOWALLA, 'byte-index', { bits: 4, selfLoops: true }))
}
