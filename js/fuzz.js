/**
 * Feeds broken files to the reader: `python conformance/mutate.py --seed 0 --count 1000 | node js/fuzz.js`.
 *
 * A finding is anything but an answer or a named error, an outcome other than the Python reader's, a mutant that takes more
 * than a second of processor time, or one for which more is allocated than a small multiple of the file. Findings make it exit with 1.
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import { DeviceError, loadSync } from './index.js'

const MOST_SECONDS = 1
const ALLOCATED_PER_BYTE = 40
const ALLOCATED_ALWAYS = 1 << 24 // a few vectors of the largest dimension
const SHOWN_FINDINGS = 20

/** @typedef {{source: string, mutations: string[], outcome: string}} Label */

/**
 * Frames of two u32 (label length, file length), label, file.
 *
 * @param {AsyncIterable<Uint8Array>} stream
 * @returns {AsyncGenerator<{label: Label, file: Uint8Array}>}
 */
async function * readFrames(stream) {
  let rest = Buffer.alloc(0)
  /** @type {Uint8Array[]} */
  let waiting = []
  let needed = 8
  let held = 0
  for await (const chunk of stream) {
    waiting.push(chunk)
    held += chunk.length
    if (held < needed) continue
    rest = Buffer.concat(waiting)
    while (rest.length >= 8) {
      const labelEnd = 8 + rest.readUInt32LE(0)
      needed = labelEnd + rest.readUInt32LE(4)
      if (rest.length < needed) break
      yield {
        label: JSON.parse(rest.subarray(8, labelEnd).toString()),
        file: new Uint8Array(rest.subarray(labelEnd, needed)), // a copy, so that the file lies aligned in its own buffer
      }
      rest = rest.subarray(needed)
      needed = 8
    }
    waiting = [rest]
    held = rest.length
  }
  if (held) throw new Error('the stream of mutants ends in the middle of one')
}

/**
 * Ask a model one question of each kind.
 *
 * @param {import('./index.js').Model} model
 * @returns {string} how the questions went that may fail
 */
function ask(model) {
  const { items } = model.card()
  const some = []
  for (const { id } of model.catalogue()) if (some.push(id) === 5) break
  model.recommend({ history: some, weights: some.map((_, j) => 1 - j / 2), k: 5 })
  model.recommend({ k: items })
  model.explain({ history: some, item: some[0] })
  model.similar({ item: some[some.length - 1], k: 5 })
  for (const tag of model.tags().slice(0, 3)) model.recommend({ history: some, tags: [tag] })
  const user = attempt(() => model.recommend({ user: 'user 0', k: 5 }))
  return `user ${user}, self-test ${attempt(() => model.selfTest())}`
}

/**
 * @param {() => unknown} action
 * @returns {string} how it went, if it went one of the ways it may
 */
function attempt(action) {
  try {
    action()
    return 'answered'
  } catch (error) {
    if (error instanceof DeviceError) return error.name
    throw error
  }
}

/**
 * @param {Uint8Array} file
 * @returns {{outcome: string, detail: string, finding: string}}
 */
function tryFile(file) {
  let model
  try {
    model = loadSync(file)
  } catch (error) {
    if (error instanceof DeviceError) return { outcome: error.name, detail: error.name, finding: '' }
    return { outcome: 'crash', detail: 'crash', finding: error instanceof Error ? String(error.stack) : String(error) }
  }
  try {
    return { outcome: 'ok', detail: `loaded and answered: ${ask(model)}`, finding: '' }
  } catch (error) {
    return { outcome: 'ok', detail: 'crash', finding: error instanceof Error ? String(error.stack) : String(error) }
  }
}

/**
 * @param {{label: Label, file: Uint8Array}} mutant
 * @returns {{detail: string, findings: string[], seconds: number, allocated: number}}
 */
function examine({ label, file }) {
  const before = process.memoryUsage().arrayBuffers
  const start = process.cpuUsage()
  const { outcome, detail, finding } = tryFile(file)
  const { user, system } = process.cpuUsage(start)
  const seconds = (user + system) / 1e6
  const allocated = process.memoryUsage().arrayBuffers - before
  const findings = finding ? [finding] : []
  if (outcome !== label.outcome) findings.push(`${outcome}, where the Python reader says ${label.outcome}`)
  if (seconds > MOST_SECONDS) findings.push(`${seconds} s`)
  if (allocated > ALLOCATED_PER_BYTE * file.length + ALLOCATED_ALWAYS) findings.push(`${allocated} bytes for a file of ${file.length}`)
  return { detail, findings, seconds, allocated }
}

/** @type {Map<string, number>} */
const counts = new Map()
const most = { seconds: 0, allocated: 0 }
const folder = process.argv[2]
let seen = 0
let found = 0
for await (const mutant of readFrames(process.stdin)) {
  const { detail, findings, seconds, allocated } = examine(mutant)
  seen++
  counts.set(detail, (counts.get(detail) ?? 0) + 1)
  most.seconds = Math.max(most.seconds, seconds)
  most.allocated = Math.max(most.allocated, allocated)
  if (!findings.length) continue
  if (found++ < SHOWN_FINDINGS) console.log(`mutant ${seen - 1} of ${mutant.label.source}`, mutant.label.mutations, findings.join('\n'))
  if (folder) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(`${folder}/${seen - 1}.srec`, mutant.file)
  }
}
for (const [detail, count] of [...counts].sort(([, a], [, b]) => b - a)) console.log(String(count).padStart(9), detail)
console.log(`${seen} mutants, ${found} findings; at most ${(1000 * most.seconds).toFixed(1)} ms of processor time and `
  + `${(most.allocated / 1e6).toFixed(1)} MB of buffers for one`)
process.exitCode = found || !seen ? 1 : 0
