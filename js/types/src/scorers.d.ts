/** @typedef {import('./codecs.js').Table} Table */
/** @typedef {import('./tables.js').Matrix} Matrix */
/** @typedef {import('./filter.js').GraphFilter} GraphFilter */
/** @typedef {import('./foldin.js').History} History */
/** @typedef {import('./foldin.js').Insertion} Insertion */
/**
 * @typedef {object} Scorer
 * @property {(history: History) => Float64Array} fromHistory vector of a new user
 * @property {(user: number) => Float64Array} known vector of a stored user
 * @property {(vector: Float64Array) => Float64Array} scores of all items
 * @property {(history: History, item: number) => number[]} contributions of each item of the history to the score of one
 * @property {(item: number) => Float64Array} similarities of all items to one
 */
/**
 * Final item vectors are stored; users are folded in, or are the one stored vector.
 *
 * @param {Matrix} score
 * @param {Matrix[]} fold
 * @param {Insertion} insertion
 * @param {Float32Array | null} userVector
 * @returns {Scorer}
 */
export function itemsScorer(score: Matrix, fold: Matrix[], insertion: Insertion, userVector: Float32Array | null): Scorer;
/**
 * The layer-0 table and the graph are stored; final vectors are never built.
 *
 * @param {Matrix} layer0
 * @param {GraphFilter} filter
 * @param {Float64Array} weight coefficients of the filter
 * @param {Float32Array | null} itemNorm
 * @returns {Scorer}
 */
export function fullScorer(layer0: Matrix, filter: GraphFilter, weight: Float64Array, itemNorm: Float32Array | null): Scorer;
/**
 * Each item has a list of items and values; the scores of a user, which stand in for a vector, are the weighted sum of the lists
 * of a history.
 *
 * @param {Table} lists
 * @param {Insertion} insertion
 * @returns {Scorer}
 */
export function neighboursScorer(lists: Table, insertion: Insertion): Scorer;
export type Table = import("./codecs.js").Table;
export type Matrix = import("./tables.js").Matrix;
export type GraphFilter = import("./filter.js").GraphFilter;
export type History = import("./foldin.js").History;
export type Insertion = import("./foldin.js").Insertion;
export type Scorer = {
    /**
     * vector of a new user
     */
    fromHistory: (history: History) => Float64Array;
    /**
     * vector of a stored user
     */
    known: (user: number) => Float64Array;
    /**
     * of all items
     */
    scores: (vector: Float64Array) => Float64Array;
    /**
     * of each item of the history to the score of one
     */
    contributions: (history: History, item: number) => number[];
    /**
     * of all items to one
     */
    similarities: (item: number) => Float64Array;
};
