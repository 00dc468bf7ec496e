/**
 * Feeds broken files to the reader: `python conformance/mutate.py --seed 0 --count 1000 | node js/fuzz.js [--coverage] [folder for findings]`.
 *
 * A finding is anything but an answer or a named error, an outcome other than the Python reader's, a mutant that takes more
 * than a second of processor time, or one for which more is allocated than a small multiple of the file. Findings make it exit with 1;
 * so does a mutant that never ends, which another thread watches for.
 */

import { mkdirSync, readFileSync, readSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { getHeapStatistics } from 'node:v8'
import { isMainThread, Worker, workerData } from 'node:worker_threads'

const MOST_SECONDS = 1
const HANG_SECONDS = 120 // of the clock, on a machine that may be busy with other things
const ALLOCATED_PER_BYTE = 40
const ALLOCATED_ALWAYS = 1 << 24 // a few vectors of the largest dimension
const SHOWN_FINDINGS = 20
const PROGRESS = 50_000
const CHUNK = 1 << 18

const session = isMainThread && process.argv.includes('--coverage') ? startCoverage() : null
const { DeviceError, loadSync } = await import('./index.js') // only now, so that functions that never run are counted too

/** @typedef {{source: string, mutations: string[], outcome: string}} Label */

/**
 * Frames of two u32 (label length, file length), label, file.
 *
 * @returns {Generator<{label: Label, file: Uint8Array}>}
 */
function * readFrames() {
  const chunk = Buffer.alloc(CHUNK)
  let rest = Buffer.alloc(0)
  for (let length = readSync(0, chunk); length; length = readSync(0, chunk)) {
    rest = Buffer.concat([rest, chunk.subarray(0, length)])
    while (rest.length >= 8) {
      const labelEnd = 8 + rest.readUInt32LE(0)
      const end = labelEnd + rest.readUInt32LE(4)
      if (rest.length < end) break
      yield {
        label: JSON.parse(rest.subarray(8, labelEnd).toString()),
        file: new Uint8Array(rest.subarray(labelEnd, end)), // a copy, so that the file lies aligned in its own buffer
      }
      rest = rest.subarray(end)
    }
  }
  if (rest.length) throw new Error('the stream of mutants ends in the middle of one')
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
  const answers = model.recommend({ history: some, weights: some.map((_, j) => 1 - j / 2), k: 5 })
  answers.push(...model.recommend({ k: items }))
  answers.push(...model.explain({ history: some, item: some[0] }).contributions)
  answers.push(...model.similar({ item: some[some.length - 1], k: 5 }))
  for (const tag of model.tags().slice(0, 3)) answers.push(...model.recommend({ history: some, tags: [tag] }))
  if (!answers.every(({ score }) => Number.isFinite(score))) throw new Error('a score is not finite')
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

/** @returns {number} bytes in use, on the heap and in buffers */
function inUse() {
  const { used_heap_size: heap, external_memory: buffers } = getHeapStatistics()
  return heap + buffers
}

/**
 * @param {{label: Label, file: Uint8Array}} mutant
 * @returns {{detail: string, findings: string[], seconds: number, allocated: number}}
 */
function examine({ label, file }) {
  const before = inUse()
  const start = performance.now()
  const { outcome, detail, finding } = tryFile(file)
  const seconds = (performance.now() - start) / 1000
  const allocated = inUse() - before
  const findings = finding ? [finding] : []
  if (outcome !== label.outcome) findings.push(`${outcome}, where the Python reader says ${label.outcome}`)
  if (seconds > MOST_SECONDS && processorSeconds(file) > MOST_SECONDS) findings.push(`${seconds} s`)
  if (allocated > ALLOCATED_PER_BYTE * file.length + ALLOCATED_ALWAYS) findings.push(`${allocated} bytes for a file of ${file.length}`)
  return { detail, findings, seconds, allocated }
}

/**
 * What a file takes by itself; asked only of those that took long by the clock, which also counts other work of the machine.
 *
 * @param {Uint8Array} file
 * @returns {number}
 */
function processorSeconds(file) {
  const start = process.cpuUsage()
  tryFile(file)
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1e6
}

/** In a thread of its own: ends the process when the same mutant is still the current one after a long time. */
function watchForHangs() {
  /** @type {Int32Array} */
  const shared = workerData
  let last = 0
  setInterval(() => {
    const current = Atomics.load(shared, 0)
    if (current && current === last) {
      writeFileSync(2, `mutant ${current - 1} does not end\n`)
      process.kill(process.pid, 'SIGKILL')
    }
    last = current
  }, 1000 * HANG_SECONDS)
}

/** @returns {Session} which counts from now on what runs */
function startCoverage() {
  const begun = new Session()
  begun.connect()
  begun.post('Profiler.enable')
  begun.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  return begun
}

/**
 * Lines of the reader that ran, by file, from the ranges V8 says did not.
 *
 * @param {Session} counting
 */
function reportCoverage(counting) {
  const source = new URL('src/', import.meta.url).href
  let [ran, total] = [0, 0]
  counting.post('Profiler.takePreciseCoverage', (problem, taken) => {
    if (problem) throw problem
    for (const { url, functions } of taken.result.filter(script => script.url.startsWith(source))) {
      const { missed, lines } = missedLines(readFileSync(new URL(url), 'utf8'), functions.flatMap(({ ranges }) => ranges))
      total += lines
      ran += lines - missed.length
      console.log(url.slice(source.length).padEnd(14), `${lines - missed.length} of ${lines} lines`, missed.length ? `never ${missed.join(', ')}` : '')
    }
  })
  console.log(`lines of the JavaScript reader run: ${ran} of ${total}, ${(100 * ran / total).toFixed(1)}%`)
}

/**
 * @param {string} text of a module
 * @param {{startOffset: number, endOffset: number, count: number}[]} ranges that ran or did not; inner ones come later
 * @returns {{missed: number[], lines: number}} lines with code that did not run, and how many lines have code
 */
function missedLines(text, ranges) {
  const ran = new Uint8Array(text.length).fill(1)
  const outermostFirst = [...ranges].sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset)
  for (const { startOffset, endOffset, count } of outermostFirst) ran.fill(count ? 1 : 0, startOffset, endOffset)
  const code = text.replace(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, comment => comment.replace(/[^\n]/g, ' '))
  const missed = []
  let [lines, offset] = [0, 0]
  for (const [number, line] of code.split('\n').entries()) {
    const first = line.search(/[^\s{}()[\],]/)
    if (first >= 0) {
      lines++
      if (!ran[offset + first]) missed.push(number + 1)
    }
    offset += line.length + 1
  }
  return { missed, lines }
}

/**
 * @param {Int32Array} current where the watching thread is told which mutant runs, counted from 1; 0 between two
 * @param {string | undefined} folder for the files of findings
 * @returns {number} the exit code
 */
function fuzz(current, folder) {
  /** @type {Map<string, number>} */
  const counts = new Map()
  const most = { seconds: 0, allocated: 0 }
  let [seen, found] = [0, 0]
  for (const mutant of readFrames()) {
    Atomics.store(current, 0, seen + 1)
    const { detail, findings, seconds, allocated } = examine(mutant)
    Atomics.store(current, 0, 0) // waiting for the next one may take as long as it likes
    counts.set(detail, (counts.get(detail) ?? 0) + 1)
    most.seconds = Math.max(most.seconds, seconds)
    most.allocated = Math.max(most.allocated, allocated)
    if (findings.length) {
      if (found++ < SHOWN_FINDINGS) console.log(`mutant ${seen} of ${mutant.label.source}`, mutant.label.mutations, findings.join('\n'))
      if (folder) {
        mkdirSync(folder, { recursive: true })
        writeFileSync(`${folder}/${seen}.srec`, mutant.file)
      }
    }
    seen++
    if (seen % PROGRESS === 0) console.log(`${seen} mutants so far, ${found} findings`)
  }
  for (const [detail, count] of [...counts].sort(([, a], [, b]) => b - a)) console.log(String(count).padStart(9), detail)
  console.log(`${seen} mutants, ${found} findings; at most ${(1000 * most.seconds).toFixed(1)} ms and `
    + `${(most.allocated / 1e6).toFixed(1)} MB for one; ${Math.round(seen / process.cpuUsage().user * 1e6)} per second of processor time`)
  return found || !seen ? 1 : 0
}

function main() {
  const current = new Int32Array(new SharedArrayBuffer(4))
  new Worker(new URL(import.meta.url), { workerData: current }).unref()
  process.exitCode = fuzz(current, process.argv.slice(2).find(word => !word.startsWith('--')))
  if (session) reportCoverage(session)
}

if (isMainThread) main()
else watchForHangs()
