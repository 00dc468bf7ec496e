/**
 * Check and decode the graph; two bytes an edge once in memory, four beyond 65,536 items.
 *
 * @param {Container} container
 * @param {number} users
 * @param {number} items
 * @returns {Graph}
 */
export function readGraph(container: Container, users: number, items: number): Graph;
export type Container = import("./container.js").Container;
export type Counts = import("./codecs.js").Counts;
export type Graph = {
    users: number;
    items: number;
    /**
     * where each user's items begin, and the end
     */
    start: Uint32Array;
    /**
     * of each edge
     */
    item: Uint16Array | Uint32Array;
    itemDegree: Uint32Array;
};
