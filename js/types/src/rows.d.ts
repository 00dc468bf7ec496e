/**
 * Whether a table is one of these.
 *
 * @param {Container} container
 * @param {string} name
 * @returns {boolean}
 */
export function hasRows({ entries }: Container, name: string): boolean;
/**
 * Check the tensors in the order of the format: values of codes, scale, positions, codes.
 *
 * @param {Container} container
 * @param {string} name
 * @param {number} rows
 * @param {number} dim
 * @returns {Table}
 */
export function readRows(container: Container, name: string, rows: number, dim: number): Table;
/**
 * Scale of each row, or null where the file has none.
 *
 * @param {Container} container
 * @param {string} name
 * @param {number} rows
 * @returns {Float32Array | null}
 */
export function readScaleLevels(container: Container, name: string, rows: number): Float32Array | null;
export type Counts = import("./codecs.js").Counts;
export type Table = import("./codecs.js").Table;
export type Container = import("./container.js").Container;
