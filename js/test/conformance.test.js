import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import * as api from '../index.js'
import { compareGolden } from '../src/golden.js'

/** @typedef {{call: string, args: any, items: (string | number)[], scores: number[], contributions: [any, number][], score: number, term?: number, catalogue: any[], error?: string}} Query */

const FOLDER = new URL('../../conformance/', import.meta.url)
const VERSIONS = ['v1', 'v1.1', 'v1.2']

/**
 * @param {string} path
 * @returns {Buffer}
 */
function read(path) {
  return readFileSync(new URL(path, FOLDER))
}

/**
 * @param {api.Model} model
 * @param {Query} query
 * @param {string} name
 */
function check(model, query, name) {
  const { exclude_seen: excludeSeen, ...rest } = query.args
  const args = excludeSeen === undefined ? rest : { ...rest, excludeSeen }
  if (query.error !== undefined) {
    assert.throws(() => model[/** @type {'recommend' | 'similar' | 'explain'} */ (query.call)](args), { name: query.error }, name)
    return
  }
  if (query.call === 'catalogue') {
    assert.deepEqual([...model.catalogue()], query.catalogue, name)
    return
  }
  if (query.call === 'explain') {
    const { score, contributions, term } = model.explain(args)
    assert.deepEqual(contributions.map(({ id }) => id), query.contributions.map(([id]) => id), name)
    const tolerance = 1e-6 * Math.max(Math.abs(query.score), ...query.contributions.map(([, value]) => Math.abs(value)))
    contributions.forEach((part, j) => assert.ok(Math.abs(part.score - query.contributions[j][1]) <= tolerance, name))
    assert.ok(Math.abs(score - query.score) <= tolerance, name)
    assert.equal(term, query.term ?? 0, name)
    return
  }
  const answer = query.call === 'similar' ? model.similar(args) : model.recommend(args)
  const scores = answer.map(({ score }) => score)
  compareGolden(name, query, answer.map(({ id }) => id), scores)
  const bits = (/** @type {number[]} */ list) => list.map(score => score + 0) // -0 is 0
  assert.deepEqual(bits(scores), bits(query.scores), `${name}: sums are exact, so all readers get the same bits`)
}

/**
 * Golden or malformed files of all versions.
 *
 * @param {'golden' | 'malformed'} kind
 * @returns {{file: string, expected: string, error: string}[]}
 */
function cases(kind) {
  if (!existsSync(FOLDER)) return []
  return VERSIONS.flatMap(version => JSON.parse(read(`${version}/index.json`).toString())[kind].map(
    (/** @type {any} */ { file, expected, error }) => ({ file: `${version}/${file}`, expected: `${version}/${expected}`, error })))
}

test('the conformance files are there', () => {
  assert.ok(cases('golden').length > 50 && cases('malformed').length > 100)
})

for (const { file, expected } of cases('golden')) {
  test(file, async () => {
    const model = await api.load(read(file))
    const { card, queries } = JSON.parse(read(expected).toString())
    const own = model.card()
    for (const key of /** @type {(keyof typeof own)[]} */ (Object.keys(card))) assert.deepEqual(own[key], card[key])
    assert.equal(Object.values(own.sections).reduce((sum, size) => sum + size, 0), own.bytes)
    assert.equal(model.selfTest(), own.golden_queries)
    for (const query of queries) check(model, query, `${file}: ${query.call}(${JSON.stringify(query.args)})`)
  })
}

for (const { file, error } of cases('malformed')) {
  test(`${file}: ${error}`, async () => {
    const Expected = Object.entries(api).find(([name]) => name === error)?.[1]
    assert.ok(Expected, `no error ${error}`)
    await assert.rejects(api.load(read(file)), problem => {
      assert.equal(/** @type {Error} */ (problem).name, error, String(problem))
      assert.ok(problem instanceof api.FileError && problem.message.length > 8)
      return true
    })
    assert.throws(() => api.loadSync(read(file)), { name: error })
  })
}
