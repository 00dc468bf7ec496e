/** Scores against dense linear algebra written down directly: matrices, no sparsity, no tricks. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTable } from '../src/codecs.js'
import { parseContainer } from '../src/container.js'
import { readGraph } from '../src/graph.js'
import { loadSync } from '../index.js'
import { tableRow } from '../src/table.js'
import { codesFile, fullFile, itemsFile } from './synthetic.js'

const SIZES = { items: 30, users: 12, dim: 20, perRow: 6, edgesPerUser: 5 }
const WEIGHT = [0.25, 0.25, 0.25, 0.25]
const HISTORY = [3, 0, 11, 29]

/** @typedef {number[][]} Matrix */

/**
 * @param {Matrix} a
 * @param {Matrix} b
 * @returns {Matrix}
 */
function product(a, b) {
  return a.map(row => b[0].map((_, j) => row.reduce((sum, value, k) => sum + value * b[k][j], 0)))
}

/**
 * Final vectors of all nodes: the sum of the powers of the normalised adjacency applied to the table. An extra user, if any, sees
 * its items but is not seen by them.
 *
 * @param {Uint8Array} bytes
 * @param {boolean} selfLoops
 * @param {number[]} inserted history of the extra user, who comes last
 * @returns {Matrix}
 */
function finalVectors(bytes, selfLoops, inserted) {
  const container = parseContainer(bytes)
  const { items, users, dim } = SIZES
  const table = readTable(container, 'layer0', users + items, dim)
  const graph = readGraph(container, users, items)
  const size = users + items + 1
  const loop = selfLoops ? 1 : 0
  const adjacency = Array.from({ length: size }, () => new Array(size).fill(0))
  for (let user = 0; user < users; user++) {
    for (const item of graph.item.subarray(graph.start[user], graph.start[user + 1])) {
      adjacency[user][users + item] = adjacency[users + item][user] = 1
    }
  }
  const degree = adjacency.map(row => row.reduce((sum, value) => sum + value, loop))
  degree[size - 1] = inserted.length + loop
  for (const item of inserted) adjacency[size - 1][users + item] = 1
  const normal = adjacency.map((row, n) => row.map((value, m) =>
    (value + (n === m ? loop : 0)) / Math.sqrt(Math.max(degree[n], loop || 1) * Math.max(degree[m], loop || 1))))
  let power = Array.from({ length: size }, (_, n) => n < size - 1 ? [...tableRow(table, n)] : new Array(dim).fill(0))
  let total = power.map(row => row.map(value => value * WEIGHT[0]))
  for (const weight of WEIGHT.slice(1)) {
    power = product(normal, power)
    total = total.map((row, n) => row.map((value, c) => value + weight * power[n][c]))
  }
  return total
}

/**
 * @param {{id: string | number, score: number}[]} answer
 * @param {number[]} scores
 */
function sameRanking(answer, scores) {
  const order = scores.map((_, j) => j).sort((a, b) => scores[b] - scores[a]).slice(0, answer.length)
  assert.deepEqual(answer.map(({ id }) => id), order)
  answer.forEach(({ id, score }) => assert.ok(Math.abs(score - scores[Number(id)]) < 1e-9))
}

for (const selfLoops of [false, true]) {
  for (const encoding of /** @type {const} */ (['bitmask', 'byte-index', 'dense'])) {
    test(`full ${encoding}, self-loops ${selfLoops}: known user, inserted user, explanation, similar`, () => {
      const bytes = fullFile(SIZES, encoding, { selfLoops })
      const model = loadSync(bytes)
      const vectors = finalVectors(bytes, selfLoops, HISTORY)
      const items = vectors.slice(SIZES.users, -1)
      const scoresOf = (/** @type {number[]} */ vector) => product(items, vector.map(value => [value])).flat()
      sameRanking(model.recommend({ user: 4, k: 30, excludeSeen: false }), scoresOf(vectors[4]))
      const own = scoresOf(vectors[vectors.length - 1])
      sameRanking(model.recommend({ history: HISTORY, k: 30, excludeSeen: false }), own)
      const { score, contributions } = model.explain({ history: HISTORY, item: 8 })
      assert.ok(Math.abs(score - own[8]) < 1e-9)
      assert.deepEqual(contributions.map(({ id }) => id), HISTORY)
      const close = scoresOf(items[8])
      close[8] = -Infinity
      sameRanking(model.similar({ item: 8, k: 29 }), close)
    })
  }
}

test('items: folded-in users, explanation and cosine by hand', () => {
  const bytes = itemsFile(SIZES, 'byte-index', { foldTables: 1 })
  const model = loadSync(bytes)
  const container = parseContainer(bytes)
  const vectors = (/** @type {string} */ name) => Array.from({ length: 30 }, (_, row) =>
    [...tableRow(readTable(container, name, 30, 20), row)])
  const [score, fold] = [vectors('score'), vectors('fold.0')]
  const { begin } = container.entries.get('item.degree') ?? { begin: 0 }
  const degree = new Uint16Array(bytes.buffer, bytes.byteOffset + container.payloadStart + begin, 30)
  const user = new Array(20).fill(0)
  for (const item of HISTORY) fold[item].forEach((value, c) => { user[c] += value / Math.sqrt(HISTORY.length * degree[item]) })
  const dot = (/** @type {number[]} */ a, /** @type {number[]} */ b) => a.reduce((sum, value, c) => sum + value * b[c], 0)
  sameRanking(model.recommend({ history: HISTORY, k: 30, excludeSeen: false }), score.map(row => dot(row, user)))
  assert.ok(Math.abs(model.explain({ history: HISTORY, item: 5 }).score - dot(score[5], user)) < 1e-9)
  const cosine = score.map(row => dot(row, score[2]) / Math.sqrt(dot(row, row) * dot(score[2], score[2])))
  cosine[2] = -Infinity
  sameRanking(model.similar({ item: 2, k: 29 }), cosine)
})

test('product codes: folded-in users and explanation against vectors put together from the codebooks', () => {
  const bytes = codesFile(SIZES, 5)
  const model = loadSync(bytes)
  const container = parseContainer(bytes)
  const book = readTable(container, 'score.book', 5 * 256, 4)
  const at = (/** @type {string} */ name) => bytes.byteOffset + container.payloadStart + (container.entries.get(name)?.begin ?? 0)
  const code = new Uint8Array(bytes.buffer, at('score.part.level'), 30 * 5)
  const degree = new Uint16Array(bytes.buffer, at('item.degree'), 30)
  const vectors = Array.from({ length: 30 }, (_, item) =>
    Array.from({ length: 5 }, (_unused, slice) => [...tableRow(book, 256 * slice + code[30 * slice + item])]).flat())
  const user = new Array(20).fill(0)
  for (const item of HISTORY) vectors[item].forEach((value, c) => { user[c] += value / Math.sqrt(HISTORY.length * degree[item]) })
  const scores = product(vectors, user.map(value => [value])).flat()
  sameRanking(model.recommend({ history: HISTORY, k: 30, excludeSeen: false }), scores)
  assert.ok(Math.abs(model.explain({ history: HISTORY, item: 5 }).score - scores[5]) < 1e-9)
})
