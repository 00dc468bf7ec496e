/**
 * One count for each item.
 *
 * @param {Container} container
 * @param {string} name
 * @param {number} count
 * @returns {Counts}
 */
export function readCounts(container: Container, name: string, count: number): Counts;
/**
 * Degrees of all items, and what they or the weights beside them mean for a new user.
 *
 * @param {Container} container
 * @param {Profile} profile
 * @returns {{degree: Counts, insertion: Insertion, degrees: {count: number, level: Uint8Array} | null}}
 */
export function readInsertion(container: Container, { items, selfLoops, sizePower }: Profile): {
    degree: Counts;
    insertion: Insertion;
    degrees: {
        count: number;
        level: Uint8Array;
    } | null;
};
/**
 * The weights of a graph's normalisation: one-way edges to the items of a history.
 *
 * @param {ArrayLike<number>} degree
 * @param {boolean} selfLoops
 * @returns {Insertion}
 */
export function insertionByDegree(degree: ArrayLike<number>, selfLoops: boolean): Insertion;
export type Counts = import("./codecs.js").Counts;
export type Container = import("./container.js").Container;
export type Profile = import("./profile.js").Profile;
/**
 * distinct items with non-zero weights, in the caller's order
 */
export type History = {
    items: number[];
    weights: number[];
};
/**
 * weights of a new user's edges and of its own loop
 */
export type Insertion = (history: History) => {
    edges: number[];
    sigma: number;
};
