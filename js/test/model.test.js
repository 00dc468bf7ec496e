import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { load, loadFile, loadFromUrl, loadSync } from '../node.js'
import { topIndices } from '../src/rank.js'
import { fileDigest, plainFileDigest } from '../src/sha256.js'
import { itemsFile, randomNumbers } from './synthetic.js'
import { tableTensors, tensor, textTensors, writeFile } from './writer.js'

const SIZES = { items: 50, users: 0, dim: 16, perRow: 5, edgesPerUser: 0 }

/**
 * Four items on two axes: a and b point one way, c and d the other.
 *
 * @param {import('./writer.js').Tensors} more
 * @param {object} [fields]
 * @param {Record<string, string>} [metadata]
 * @returns {Uint8Array}
 */
function fourItems(more, fields = {}, metadata = {}) {
  const rows = /** @type {[number, number][][]} */ ([[[0, 100]], [[0, 90], [1, 10]], [[1, 100]], [[0, 10], [1, 90]]])
  const model = {
    mode: 'items', items: 4, users: 0, dim: 2, self_loops: false, fold_tables: 0, item_ids: 'string', base: 'mf', ...fields,
  }
  return writeFile(model, {
    'filter.weight': tensor('F64', Float64Array.of(1)),
    'item.degree': tensor('U8', Uint8Array.of(1, 1, 4, 1)),
    ...tableTensors('score', rows, 2, { encoding: 'byte-index' }),
    ...more,
  }, metadata)
}

const NAMES = textTensors('item.id', ['a', 'b', 'ç', '😀'])

/**
 * @param {{id: string | number}[]} answer
 * @returns {(string | number)[]}
 */
function idsOf(answer) {
  return answer.map(({ id }) => id)
}

test('recommend: history, weights, exclude, allow, deny, seen', () => {
  const model = loadSync(fourItems(NAMES))
  assert.deepEqual(idsOf(model.recommend({ history: ['a'] })), ['b', '😀', 'ç'])
  assert.deepEqual(idsOf(model.recommend({ history: ['a', 'nothing', 'a'], excludeSeen: false })), ['a', 'b', '😀', 'ç'])
  assert.deepEqual(idsOf(model.recommend({ history: ['a'], exclude: ['b'], k: 1 })), ['😀'])
  assert.deepEqual(idsOf(model.recommend({ history: ['a'], allow: ['ç', 'a', 'nothing'], deny: ['nothing'] })), ['ç'])
  assert.deepEqual(idsOf(model.recommend({ history: ['ç', 'a'], weights: [1, -1] })), ['😀', 'b'])
  assert.deepEqual(idsOf(model.recommend({ history: ['a', 'b'], weights: [1, 0], k: 1 })), ['😀'])
})

test('no liked item: popularity, ties by position', () => {
  const model = loadSync(fourItems(NAMES))
  for (const question of [{}, { history: [] }, { history: ['nothing'] }]) {
    assert.deepEqual(idsOf(model.recommend(question)), ['ç', 'a', 'b', '😀'])
  }
  assert.deepEqual(idsOf(model.recommend({ history: ['a'], weights: [-1] })), ['ç', 'b', '😀'])
  assert.deepEqual(model.explain({ history: [], item: 'ç' }), { id: 'ç', score: 4, contributions: [], term: 0 })
})

test('questions that make no sense have their own errors', () => {
  const model = loadSync(fourItems(NAMES))
  assert.throws(() => model.recommend({ user: 'anyone' }), { name: 'UnknownUser' })
  assert.throws(() => model.recommend({ user: 'anyone', history: [] }), { name: 'BadQuery' })
  assert.throws(() => model.recommend({ history: ['a'], weights: [] }), { name: 'BadQuery' })
  for (const weight of [NaN, Infinity, 1e7]) assert.throws(() => model.recommend({ history: ['a'], weights: [weight] }), { name: 'BadQuery' })
  for (const k of [0, -1, 1.5, NaN]) assert.throws(() => model.recommend({ history: ['a'], k }), { name: 'BadQuery' })
  for (const k of /** @type {any[]} */ ([0, -1, 2.5, '3', null, {}])) {
    assert.throws(() => model.similar({ item: 'a', k }), { name: 'BadQuery' })
  }
  for (const weights of /** @type {any[]} */ ([['a'], ['1'], [null], [true], 1, 'a', [[1]]])) {
    assert.throws(() => model.recommend({ history: ['a'], weights }), { name: 'BadQuery' })
  }
  for (const wrong of /** @type {any[]} */ ([[['a', 'b']], [1.5], [null], {}, true, [undefined], Object.create(null)])) {
    assert.throws(() => model.recommend({ history: wrong }), { name: 'BadQuery' })
    assert.throws(() => model.recommend({ history: ['a'], deny: wrong }), { name: 'BadQuery' })
    assert.throws(() => model.similar({ item: wrong }), { name: 'BadQuery' })
  }
  for (const tags of [['new'], 'new', []]) assert.throws(() => model.recommend({ tags }), { name: 'UnknownTag' }) // it has none
  for (const user of /** @type {any[]} */ ([['anyone'], 1.5, true, {}, { toString: () => 'anyone' }])) {
    assert.throws(() => model.recommend({ user }), { name: 'BadQuery' })
  }
  assert.throws(() => model.similar({ item: 'nothing' }), { name: 'UnknownItem' })
  assert.throws(() => model.explain({ history: ['a'], item: '\ud800' }), { name: 'UnknownItem' })
})

test('one id alone is one id, not its letters, and ids may come in anything that can be gone through', () => {
  const model = loadSync(fourItems(textTensors('item.id', ['a', 'ab', 'b', '😀'])))
  const listed = model.recommend({ history: ['ab'], k: 3 })
  assert.notDeepEqual(listed, model.recommend({ history: ['a', 'b'], k: 3 }))
  for (const history of ['ab', new Set(['ab']), ['ab'].values()]) assert.deepEqual(model.recommend({ history, k: 3 }), listed)
  assert.deepEqual(idsOf(model.recommend({ history: 'ab', deny: 'a', k: 4 })).includes('a'), false)
  assert.deepEqual(idsOf(model.recommend({ history: 'ab', allow: 'b', k: 4 })), ['b'])
  assert.deepEqual(model.explain({ history: 'ab', item: 'b' }), model.explain({ history: ['ab'], item: 'b' }))
  const counted = loadSync(fourItems({}, { item_ids: 'range' }))
  assert.deepEqual(counted.recommend({ history: 0, k: 2 }), counted.recommend({ history: Int32Array.of(0), k: 2 }))
})

test('titles and tags', () => {
  const model = loadSync(fourItems({
    ...NAMES,
    ...textTensors('item.title', ['Alpha', 'Beta', '', 'Delta']),
    ...textTensors('tag', ['old', 'new']),
    'item.tags': tensor('U8', Uint8Array.of(1, 2, 2, 3), [4, 1]),
  }))
  assert.deepEqual(model.tags(), ['old', 'new'])
  assert.deepEqual(idsOf(model.recommend({ history: ['a'], tags: ['new'] })), ['b', '😀', 'ç'])
  assert.deepEqual(model.recommend({ history: ['a'], tags: [] }), [])
  assert.deepEqual(model.recommend({ history: ['b'], tags: ['old'] }).map(({ title }) => title), ['Alpha', 'Delta'])
  const items = [...model.catalogue()]
  assert.deepEqual(items.map(({ tags }) => tags), [['old'], ['new'], ['new'], ['old', 'new']])
  assert.deepEqual({ ...items[3], popularity: 0 }, { id: '😀', title: 'Delta', tags: ['old', 'new'], popularity: 0 })
  for (const item of items) assert.deepEqual(model.item(item.id), item)
  assert.equal(model.item('nowhere'), null)
  const mostPopularFirst = [...items].sort((a, b) => b.popularity - a.popularity)
  assert.deepEqual(idsOf(model.recommend()), idsOf(mostPopularFirst))
  assert.deepEqual(model.recommend().map(({ score }) => score), mostPopularFirst.map(({ popularity }) => popularity))
  assert.deepEqual(model.seen(), [])
})

test('integer ids: found as numbers and as text, in any order, 64 bits wide', () => {
  const ids = [-5, 2 ** 53 - 1, 7, 2 ** 40]
  const wide = BigInt64Array.from(ids, BigInt)
  const model = loadSync(fourItems({
    'item.id': { dtype: 'I64', shape: [4], data: new Float64Array(wide.buffer) },
    'item.id.order': tensor('U32', Uint32Array.of(0, 2, 3, 1)),
  }, { item_ids: 'int' }))
  assert.deepEqual([...model.catalogue()].map(({ id }) => id), ids)
  for (const id of ids) {
    for (const form of [id, String(id)]) assert.deepEqual(model.explain({ history: [form], item: -5 }).contributions.map(part => part.id), [id])
  }
  for (const id of [6, '07', '7.0', 'x', '-0', '']) assert.deepEqual(idsOf(model.recommend({ history: [id], k: 1 })), [7])
})

test('a personal file answers without being asked for whom', () => {
  const model = loadSync(fourItems({
    ...NAMES, 'user.vector': tensor('F32', Float32Array.of(0, 1)), 'user.seen': tensor('U32', Uint32Array.of(2)),
  }, { mode: 'personal', user_id: 'me' }))
  assert.deepEqual(idsOf(model.recommend()), ['😀', 'b', 'a'])
  assert.deepEqual(model.recommend({ user: 'me' }), model.recommend())
  assert.throws(() => model.recommend({ user: 'you' }), { name: 'UnknownUser' })
  for (const user of /** @type {any[]} */ ([['me'], { toString: () => 'me' }, Object('me')])) {
    assert.throws(() => model.recommend({ user }), { name: 'BadQuery' })
  }
})

test('a wrong golden answer fails the self-test', () => {
  const golden = [{ history: [0], items: [1, 3], scores: [0.9, 0.1] }]
  const model = (/** @type {object} */ queries) => loadSync(fourItems(NAMES, {}, { golden: JSON.stringify(queries) }))
  assert.equal(model(golden).selfTest(), 1)
  assert.throws(() => model([{ ...golden[0], items: [3, 1] }]).selfTest(), { name: 'SelfTestFailed' })
  assert.throws(() => model([{ ...golden[0], scores: [0.9, 0.2] }]).selfTest(), { name: 'SelfTestFailed' })
  const longer = { history: [0], items: [1, 3, 2, 0], scores: [0.9, 0.1, 0, 0] } // the history itself is left out
  assert.throws(() => model([longer]).selfTest(), { name: 'SelfTestFailed' })
})

test('the top of many scores, ties by position, against sorting', () => {
  const random = randomNumbers(3)
  for (let round = 0; round < 200; round++) {
    const scores = Array.from({ length: 1 + Math.floor(40 * random()) }, () => Math.floor(6 * random()) / 2)
    const allowed = Uint8Array.from(scores, () => Number(random() < 0.8))
    const k = 1 + Math.floor(12 * random())
    const sorted = scores.map((_, j) => j).filter(j => allowed[j]).sort((a, b) => scores[b] - scores[a] || a - b)
    assert.deepEqual(topIndices(scores, k, allowed), sorted.slice(0, k))
  }
})

test('SHA-256 of any length, by WebCrypto and in plain JavaScript', async () => {
  for (const length of [99, 100, 119, 120, 127, 128, 129, 183, 184, 1000, 4096]) {
    const bytes = Uint8Array.from({ length }, (_, j) => 31 * j)
    const zeroed = bytes.slice().fill(48, 35, 99)
    const expected = createHash('sha256').update(zeroed).digest('hex')
    assert.equal(plainFileDigest(bytes), expected)
    assert.equal(await fileDigest(bytes), expected)
  }
})

test('bytes anywhere in a buffer, and a buffer itself', async () => {
  const bytes = itemsFile(SIZES, 'bitmask')
  const expected = loadSync(bytes).recommend({ history: [1, 2] })
  const shifted = new Uint8Array(bytes.length + 3)
  shifted.set(bytes, 3)
  assert.deepEqual((await load(shifted.subarray(3))).recommend({ history: [1, 2] }), expected)
  assert.deepEqual((await load(bytes.slice().buffer)).recommend({ history: [1, 2] }), expected)
})

test('from a file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'srec-'))
  try {
    writeFileSync(join(folder, 'model.srec'), fourItems(NAMES))
    assert.equal((await loadFile(join(folder, 'model.srec'))).card().items, 4)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('fetching with progress, with and without a declared length', async () => {
  const bytes = fourItems({ ...NAMES, 'ignored tensor': tensor('U8', new Uint8Array(3_000_000)) })
  const server = createServer((request, response) => {
    if (request.url === '/absent') response.writeHead(404).end()
    else response.writeHead(200, request.url === '/sized' ? { 'content-length': bytes.length } : {}).end(bytes)
  })
  await new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(null)))
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const address = (/** @type {string} */ path) => `http://127.0.0.1:${port}${path}`
  try {
    for (const [path, total] of /** @type {[string, number | null][]} */ ([['/sized', bytes.length], ['/unsized', null]])) {
      /** @type {import('../src/fetch.js').Progress[]} */
      const seen = []
      const model = await loadFromUrl(address(path), { onProgress: progress => seen.push(progress) })
      assert.equal(model.card().bytes, bytes.length)
      assert.ok(seen.length > 1 && seen.every((progress, j) => progress.total === total && (!j || progress.loaded > seen[j - 1].loaded)))
      assert.equal(seen[seen.length - 1].loaded, bytes.length)
    }
    await assert.rejects(loadFromUrl(address('/absent')), { name: 'CannotFetch' })
  } finally {
    server.close()
    server.closeAllConnections()
  }
})
