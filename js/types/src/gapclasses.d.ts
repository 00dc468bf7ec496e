/**
 * Columns of all entries, checked in the order of the format.
 *
 * @param {Container} container
 * @param {string} name
 * @param {Uint32Array} start
 * @param {number} dim
 * @param {Columns} column where they go
 */
export function readGapClasses(container: Container, name: string, start: Uint32Array, dim: number, column: Columns): void;
export type Container = import("./container.js").Container;
export type Columns = Uint8Array | Uint16Array | Uint32Array;
