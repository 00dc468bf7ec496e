import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTable, widenHalves } from '../src/codecs.js'
import { parseContainer } from '../src/container.js'
import { bitsFor, powerAbove, snap } from '../src/exact.js'
import { readGraph } from '../src/graph.js'
import { tableDots, tableRow, tableRowsum } from '../src/table.js'
import { graphTensors, packHalves, tableTensors, tensor, writeFile } from './writer.js'

/**
 * @param {import('./writer.js').Tensors} tensors
 * @returns {import('../src/container.js').Container}
 */
function containerOf(tensors) {
  return parseContainer(writeFile({}, tensors))
}

const HALF_SCALE = 0.02000427246 // 0.02 as float16, bits 0x251f

test('the example of docs/format.md: one row as bitmask and as byte-index', () => {
  const shared = { 'T.scale': tensor('F16', Uint16Array.of(0x251f)), 'T.code': tensor('I8', Int8Array.of(127, -63)) }
  const masked = containerOf({ ...shared, 'T.mask': tensor('U8', Uint8Array.of(0x12), [1, 1]) })
  const indexed = containerOf({
    ...shared, 'T.index': tensor('U8', Uint8Array.of(1, 4)), 'T.count': tensor('U8', Uint8Array.of(2)),
  })
  for (const container of [masked, indexed]) {
    const table = readTable(container, 'T', 1, 8)
    assert.ok(Math.abs(table.scale[0] - HALF_SCALE) < 1e-10)
    const [scale] = table.scale
    assert.deepEqual([...tableRow(table, 0)], [0, 127 * scale, 0, 0, -63 * scale, 0, 0, 0])
    assert.deepEqual([...tableDots(table, Float64Array.of(0, 1, 0, 0, 2, 0, 0, 0))], [scale * (127 - 126)])
    assert.deepEqual([...tableRowsum(table, [2])], [0, 254 * scale, 0, 0, -126 * scale, 0, 0, 0])
  }
})

test('4-bit codes: low half first, two complement', () => {
  const container = containerOf({
    'T.scale': tensor('F32', Float32Array.of(1)),
    'T.code': tensor('U8', Uint8Array.of(0x7f, 0x09)), // -1, 7, -7
    'T.index': tensor('U8', Uint8Array.of(0, 2, 3)),
    'T.count': tensor('U8', Uint8Array.of(3)),
  })
  assert.deepEqual([...tableRow(readTable(container, 'T', 1, 4), 0)], [-1, 0, 7, -7])
  assert.deepEqual([...packHalves([-1, 7, -7])], [0x7f, 0x09])
})

test('all encodings and widths give the same table', () => {
  /** @type {[number, number][][]} */
  const rows = [[[0, 3], [299, -7]], [], [[7, 1], [8, 2], [255, -1], [256, 5]]]
  for (const encoding of /** @type {const} */ (['bitmask', 'byte-index', 'dense'])) {
    for (const bits of [8, 4]) {
      const table = readTable(containerOf(tableTensors('T', rows, 300, { encoding, bits })), 'T', 3, 300)
      rows.forEach((row, r) => {
        const dense = new Float64Array(300)
        for (const [column, code] of row) dense[column] = code * table.scale[r]
        assert.deepEqual(tableRow(table, r), dense, `${encoding} ${bits}`)
      })
    }
  }
})

test('float16: zero, subnormal, one, largest, infinity, not a number', () => {
  const bits = Uint16Array.of(0, 0x8000, 1, 0x3ff, 0x3c00, 0xbc00, 0x7bff, 0x7c00, 0x7c01)
  assert.deepEqual([...widenHalves(bits)], [0, -0, 2 ** -24, 1023 * 2 ** -24, 1, -1, 65504, Infinity, NaN])
})

test('graph: gaps of two users, worked by hand', () => {
  // widths 0 2 0 ..: base 0, 1, 5, 6 ..; user 0: items 0, 3 (gaps 0, 2); user 1: none; user 2: item 4 (gap 4)
  const container = containerOf({
    'graph.count': tensor('U8', Uint8Array.of(2, 0, 1)),
    'graph.width': tensor('U8', Uint8Array.from([0, 2, ...new Array(14).fill(0)])),
    'graph.class': tensor('U8', Uint8Array.of(0x10, 0x01)),
    'graph.extra': tensor('U8', Uint8Array.of(0b1101)),
  })
  const { item, start, itemDegree } = readGraph(container, 3, 5)
  assert.deepEqual([...item], [0, 3, 4])
  assert.deepEqual([...start], [0, 2, 2, 3])
  assert.deepEqual([...itemDegree], [1, 0, 0, 1, 1])
  assert.throws(() => readGraph(container, 3, 4), { name: 'BadGraph' })
})

test('graph: an unused half class that is set', () => {
  const tensors = graphTensors([[0, 1, 2]])
  tensors['graph.class'].data[1] |= 0x10
  assert.throws(() => readGraph(containerOf(tensors), 1, 5), { name: 'NonzeroPadding' })
})

test('graph: long lists come back, beyond 65,536 items too', () => {
  for (const items of [65536, 70000]) {
    const lists = [[0, 1, 2, 500, 501, items - 1], [], [items - 2], [5, 4000, 65000]]
    const { item } = readGraph(containerOf(graphTensors(lists)), lists.length, items)
    assert.deepEqual([...item], lists.flat())
  }
})

test('powers of two above, from subnormal to huge', () => {
  for (const [value, power] of [[1, 2], [0.75, 1], [3, 4], [4, 8], [5e-324, 1e-323], [2 ** -1030, 2 ** -1029], [1e308, Infinity]]) {
    assert.equal(powerAbove(value), power)
  }
  assert.deepEqual([1, 2, 3, 4, 5, 128, 129].map(bitsFor), [0, 1, 2, 2, 3, 7, 8])
})

test('snapped values lie on the grid and nearly where they were', () => {
  const values = Float64Array.of(0.1, -0.7, 1 / 3, 0)
  const snapped = values.slice()
  assert.equal(snap(snapped, 33), true)
  snapped.forEach((value, j) => {
    assert.equal(value * 2 ** 33, Math.round(value * 2 ** 33))
    assert.ok(Math.abs(value - values[j]) <= 2 ** -34)
  })
  assert.equal(snap(new Float64Array(3), 33), false)
})
