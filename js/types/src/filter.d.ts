/** @typedef {import('./graph.js').Graph} Graph */
/** @typedef {{users: Float64Array | null, items: Float64Array | null}} NodeVector */
/**
 * @typedef {object} GraphFilter
 * @property {Graph} graph
 * @property {boolean} selfLoops
 * @property {Float64Array} userNorm degree^-1/2
 * @property {Float64Array} itemNorm
 * @property {number} gridBits
 */
/**
 * Norms, and the grid on which sums over neighbours are exact.
 *
 * @param {Graph} graph
 * @param {boolean} selfLoops
 * @returns {GraphFilter}
 */
export function graphFilter(graph: Graph, selfLoops: boolean): GraphFilter;
/**
 * The filter by powers: cheap when x lives on one side of the graph. Users come before items in the result.
 *
 * @param {GraphFilter} filter
 * @param {ArrayLike<number>} coefficients
 * @param {NodeVector} x
 * @returns {Float64Array}
 */
export function spread(filter: GraphFilter, coefficients: ArrayLike<number>, x: NodeVector): Float64Array;
/**
 * The items' part of the filter, by Horner's rule: cheap because one side is wanted at each step.
 *
 * @param {GraphFilter} filter
 * @param {ArrayLike<number>} coefficients
 * @param {Float64Array} x users before items
 * @returns {Float64Array}
 */
export function gather(filter: GraphFilter, coefficients: ArrayLike<number>, x: Float64Array): Float64Array;
export type Graph = import("./graph.js").Graph;
export type NodeVector = {
    users: Float64Array | null;
    items: Float64Array | null;
};
export type GraphFilter = {
    graph: Graph;
    selfLoops: boolean;
    /**
     * degree^-1/2
     */
    userNorm: Float64Array;
    itemNorm: Float64Array;
    gridBits: number;
};
