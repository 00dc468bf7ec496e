/** A small writer of model files, for tests and benchmarks alone: real files come from the Python package. */

import { createHash } from 'node:crypto'

/** @typedef {Uint8Array | Int8Array | Uint16Array | Uint32Array | Int32Array | Float32Array | Float64Array} TypedArray */
/** @typedef {{dtype: string, shape: number[], data: TypedArray}} Tensor */
/** @typedef {Record<string, Tensor>} Tensors */

const DIGITS = '0'.repeat(64)

/**
 * The bytes of a file, with its checksum.
 *
 * @param {object} model fields of `__metadata__.model`
 * @param {Tensors} tensors
 * @param {Record<string, string>} [metadata] more of it
 * @returns {Uint8Array}
 */
export function writeFile(model, tensors, metadata = {}) {
  const sorted = Object.entries(tensors).sort(([, a], [, b]) => b.data.BYTES_PER_ELEMENT - a.data.BYTES_PER_ELEMENT)
  /** @type {Record<string, any>} */
  const header = {
    __metadata__: { sha256: DIGITS, format: 'srec', version: '1.0', model: JSON.stringify(model), ...metadata },
  }
  let position = 0
  for (const [name, { dtype, shape, data }] of sorted) {
    header[name] = { dtype, shape, data_offsets: [position, position + data.byteLength] }
    position += data.byteLength
  }
  return seal(JSON.stringify(header), sorted.map(([, { data }]) => data))
}

/**
 * Pad the header and fill in the checksum.
 *
 * @param {string} header
 * @param {TypedArray[]} payload
 * @returns {Uint8Array}
 */
export function seal(header, payload) {
  const text = Buffer.from(header)
  const raw = Buffer.concat([text, Buffer.alloc((8 - text.length % 8) % 8, ' ')])
  const length = Buffer.alloc(8)
  length.writeUInt32LE(raw.length)
  const parts = payload.map(data => Buffer.from(data.buffer, data.byteOffset, data.byteLength))
  return reseal(new Uint8Array(Buffer.concat([length, raw, ...parts])))
}

/**
 * Fill in the checksum of a file that was changed.
 *
 * @param {Uint8Array} bytes changed
 * @returns {Uint8Array} bytes
 */
export function reseal(bytes) {
  bytes.set(Buffer.from(DIGITS), 35)
  bytes.set(Buffer.from(createHash('sha256').update(bytes).digest('hex')), 35)
  return bytes
}

/**
 * Tensor of a typed array.
 *
 * @param {string} dtype
 * @param {TypedArray} data
 * @param {number[]} [shape]
 * @returns {Tensor}
 */
export function tensor(dtype, data, shape = [data.length]) {
  return { dtype, shape, data }
}

/**
 * Tensors of a text table.
 *
 * @param {string} name
 * @param {string[]} strings
 * @returns {Tensors}
 */
export function textTensors(name, strings) {
  const parts = strings.map(string => Buffer.from(string))
  const offset = new Uint32Array(parts.length + 1)
  parts.forEach((part, j) => { offset[j + 1] = offset[j] + part.length })
  return { [`${name}.offset`]: tensor('U32', offset), [`${name}.text`]: tensor('U8', new Uint8Array(Buffer.concat(parts))) }
}

/**
 * Tensors of a table given by rows of [column, code]. Dense: every row holds all columns.
 *
 * @param {string} name
 * @param {[number, number][][]} rows
 * @param {number} dim
 * @param {{encoding: 'bitmask' | 'byte-index' | 'dense', bits?: number, scale?: Float32Array}} how
 * @returns {Tensors}
 */
export function tableTensors(name, rows, dim, { encoding, bits = 8, scale = new Float32Array(rows.length).fill(0.01) }) {
  const full = encoding === 'dense' ? rows.map(row => denseRow(row, dim)) : rows
  const entries = full.reduce((sum, row) => sum + row.length, 0)
  const columns = dim > 256 ? new Uint16Array(entries) : new Uint8Array(entries)
  const codes = new Int8Array(entries)
  const mask = new Uint8Array(rows.length * Math.ceil(dim / 8))
  let entry = 0
  full.forEach((row, r) => row.forEach(([column, code]) => {
    columns[entry] = column
    codes[entry++] = code
    mask[r * Math.ceil(dim / 8) + (column >> 3)] |= 1 << (column & 7)
  }))
  /** @type {Tensors} */
  const tensors = {
    [`${name}.scale`]: tensor('F32', scale),
    [`${name}.code`]: bits === 8 ? tensor('I8', codes) : tensor('U8', packHalves(codes)),
  }
  if (encoding === 'bitmask') tensors[`${name}.mask`] = tensor('U8', mask, [rows.length, Math.ceil(dim / 8)])
  if (encoding === 'byte-index') {
    tensors[`${name}.index`] = tensor(dim > 256 ? 'U16' : 'U8', columns)
    tensors[`${name}.count`] = tensor('U16', Uint16Array.from(full, row => row.length))
  }
  return tensors
}

/**
 * Tensors of a graph given by each user's ascending items; the widths of the classes are fixed, not chosen.
 *
 * @param {ArrayLike<number>[]} lists
 * @returns {Tensors}
 */
export function graphTensors(lists) {
  const width = Uint8Array.from([0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16])
  const base = [0]
  for (const bits of width) base.push(base[base.length - 1] + 2 ** bits)
  /** @type {number[]} */
  const classes = []
  /** @type {number[]} */
  const extra = []
  let used = 0
  for (const list of lists) {
    for (let j = 0, next = 0; j < list.length; j++) {
      const gap = list[j] - next
      next = list[j] + 1
      const kind = base.findIndex((_, c) => gap < base[c + 1])
      classes.push(kind)
      for (let bit = 0; bit < width[kind]; bit++, used++) {
        if (used % 8 === 0) extra.push(0)
        extra[used >> 3] |= (((gap - base[kind]) >> bit) & 1) << (used & 7)
      }
    }
  }
  return {
    'graph.count': tensor('U32', Uint32Array.from(lists, list => list.length)),
    'graph.width': tensor('U8', width),
    'graph.class': tensor('U8', packHalves(classes)),
    'graph.extra': tensor('U8', Uint8Array.from(extra)),
  }
}

/**
 * @param {ArrayLike<number>} values
 * @returns {Uint8Array}
 */
export function packHalves(values) {
  const out = new Uint8Array(Math.ceil(values.length / 2))
  for (let j = 0; j < values.length; j++) out[j >> 1] |= (values[j] & 15) << (4 * (j & 1))
  return out
}

/**
 * @param {[number, number][]} row
 * @param {number} dim
 * @returns {[number, number][]}
 */
function denseRow(row, dim) {
  const codes = new Map(row)
  return Array.from({ length: dim }, (_, column) => [column, codes.get(column) ?? 0])
}
