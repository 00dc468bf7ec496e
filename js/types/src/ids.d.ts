/** @typedef {import('./container.js').Container} Container */
/** @typedef {number | string} Identifier */
/** @typedef {{at: (index: number) => Identifier, find: (id: Identifier) => number}} Ids find gives -1 for an unknown id */
/**
 * Check that the ids strictly ascend in the order stored with them, which makes lookup a binary search.
 *
 * @param {Container} container
 * @param {string} name
 * @param {string} kind range, int or string
 * @param {number} count
 * @returns {Ids}
 */
export function readIds(container: Container, name: string, kind: string, count: number): Ids;
export type Container = import("./container.js").Container;
export type Identifier = number | string;
/**
 * find gives -1 for an unknown id
 */
export type Ids = {
    at: (index: number) => Identifier;
    find: (id: Identifier) => number;
};
