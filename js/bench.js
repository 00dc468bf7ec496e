/**
 * Load time, milliseconds per top-20 query and memory: `node bench.js [FILE ..]`. Without a file, made-up models of the size of
 * Gowalla stand in.
 */

import { readFileSync } from 'node:fs'
import { load } from './index.js'
import { codesFile, fullFile, GOWALLA, itemsFile, randomNumbers } from './test/synthetic.js'

const ROUNDS = 60
const WARM_UP = 10
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
 * Median time of many calls, each with its round, and their mean processor time, which other work on the machine changes less.
 *
 * @param {(round: number) => unknown} action
 * @returns {string}
 */
function timesOf(action) {
  for (let round = 0; round < WARM_UP; round++) action(round + ROUNDS)
  const before = process.cpuUsage()
  const times = Array.from({ length: ROUNDS }, (_, round) => timed(() => action(round))).sort((a, b) => a - b)
  const { user, system } = process.cpuUsage(before)
  return `${times[ROUNDS >> 1].toFixed(2)} (${((user + system) / 1000 / ROUNDS).toFixed(2)})`.padStart(15)
}

/** @returns {Promise<number>} bytes held by JavaScript, buffers included */
async function heldBytes() {
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.()
    await new Promise(resolve => setTimeout(resolve, 20)) // buffers are given back a little later
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/**
 * @param {Uint8Array} bytes
 * @returns {Promise<string>}
 */
async function loadTime(bytes) {
  const times = []
  for (let round = 0; round < 7; round++) {
    const start = performance.now()
    await load(bytes)
    times.push(performance.now() - start)
  }
  const [first] = times
  return `${times.sort((a, b) => a - b)[3].toFixed(1)} (${first.toFixed(1)})`.padStart(14)
}

/**
 * Bytes that stay beside the file once it is loaded and has answered, and those that a question leaves behind.
 *
 * @param {Uint8Array} bytes
 * @returns {Promise<string>}
 */
async function memory(bytes) {
  const before = await heldBytes()
  const model = await load(bytes)
  const [{ id }] = model.recommend({ k: 1 })
  model.recommend({ history: [id] })
  const held = await heldBytes() - before
  const start = process.memoryUsage().arrayBuffers
  model.recommend({ history: [id, id], weights: [0.5, 1] })
  const scratch = process.memoryUsage().arrayBuffers - start
  return `${(held / 1e6).toFixed(1)} + ${(scratch / 1e6).toFixed(1)}`.padStart(11)
}

/**
 * @param {string} name
 * @param {Uint8Array} bytes
 */
async function measure(name, bytes) {
  const loading = await loadTime(bytes)
  const model = await load(bytes)
  const { mode } = model.card()
  const ids = Array.from(model.catalogue(), ({ id }) => id)
  const random = randomNumbers(7)
  const histories = Array.from({ length: ROUNDS + WARM_UP }, () =>
    Array.from({ length: HISTORY }, () => ids[Math.floor(random() * ids.length)]))
  console.log([
    name.padEnd(22), mode.padEnd(8), (bytes.length / 1e6).toFixed(2).padStart(5), loading,
    timesOf(round => model.recommend({ history: histories[round] })),
    timesOf(() => model.recommend({ history: histories[0] })),
    timesOf(round => model.similar({ item: histories[round][0] })),
    timesOf(round => model.explain({ history: histories[round], item: ids[0] })),
    await memory(bytes),
  ].join(' '))
}

console.log(`Milliseconds, median of ${ROUNDS} (mean processor time; of loading: first); MB held beside the file + scratch of a question; `
  + `node ${process.version}${globalThis.gc ? '' : '; memory is only right with node --expose-gc'}`)
console.log('file                   mode        MB           load           query          cached         similar'
  + '         explain      memory')
const files = process.argv.slice(2)
for (const file of files) await measure(file.split('/').pop() ?? file, readFileSync(file))
if (!files.length) {
  const items = { ...GOWALLA, perRow: 32 }
  await measure('items byte-index int8', itemsFile(items, 'byte-index'))
  await measure('items bitmask int8', itemsFile(items, 'bitmask'))
  await measure('items byte-index int4', itemsFile(items, 'byte-index', { bits: 4 }))
  await measure('items dense int8', itemsFile(items, 'dense'))
  await measure('items 16 bytes of codes', codesFile(GOWALLA, 16))
  await measure('items 32 bytes of codes', codesFile(GOWALLA, 32))
  await measure('full bitmask int8', fullFile(GOWALLA, 'bitmask'))
  await measure('full self-loops int4', fullFile(GOWALLA, 'byte-index', { bits: 4, selfLoops: true }))
}
