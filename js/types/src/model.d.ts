/** @typedef {import('./ids.js').Identifier} Identifier */
/** @typedef {import('./contents.js').Parts} Parts */
/** @typedef {import('./question.js').Some} Some */
/** @typedef {import('./scorers.js').History} History */
/** @typedef {{id: Identifier, score: number, title: string | null}} Recommendation */
/** @typedef {{id: Identifier, score: number, contributions: Recommendation[], term: number}} Explanation */
/** @typedef {{id: Identifier, title: string | null, tags: string[], popularity: number}} Item */
/** @typedef {{scores: ArrayLike<number>, seen: ArrayLike<number>}} Answer scores of all items, and what was seen already */
/**
 * @typedef {object} Question
 * @property {Identifier} [user] a stored user; or give a history
 * @property {Some | null} [history] what someone liked, or one such item; unknown items are ignored
 * @property {Iterable<number> | null} [weights] go with the history: negative for a dislike, smaller for what is long ago
 * @property {number} [k] how many
 * @property {Some} [exclude] leave these out
 * @property {Some | null} [deny] and these
 * @property {Some | null} [allow] nothing but these
 * @property {Iterable<string> | string | null} [tags] only items that have one of these
 * @property {boolean} [excludeSeen] leave out the history, or what the stored user has seen
 */
/**
 * Open a model file held in memory; rejects with the named error if anything in it is wrong. The bytes are used where they are
 * and must not change afterwards.
 *
 * @param {ArrayBuffer | Uint8Array} data
 * @returns {Promise<Model>}
 */
export function load(data: ArrayBuffer | Uint8Array): Promise<Model>;
/**
 * The same without WebCrypto and without waiting.
 *
 * @param {ArrayBuffer | Uint8Array} data
 * @returns {Model}
 */
export function loadSync(data: ArrayBuffer | Uint8Array): Model;
/** Answers questions about external ids; scores with indices. */
export class Model {
    /** @param {Parts} parts */
    constructor(parts: Parts);
    /**
     * The k best items for a stored user, or for anyone with this history. Without a history that names a liked item of the file,
     * the most popular items are the answer.
     *
     * @param {Question} [question]
     * @returns {Recommendation[]}
     */
    recommend({ user, history, weights, k, exclude, deny, allow, tags, excludeSeen }?: Question): Recommendation[];
    /**
     * Why an item gets its score for a history: the contributions, in the order of the history, and its own term (0 in files without
     * such) add up to it.
     *
     * @param {{history: Some, item: Identifier, weights?: Iterable<number> | null}} question
     * @returns {Explanation}
     */
    explain({ history, item, weights }: {
        history: Some;
        item: Identifier;
        weights?: Iterable<number> | null;
    }): Explanation;
    /**
     * The items whose final vectors lie closest to that of an item; terms of items count for nothing here.
     *
     * @param {{item: Identifier, k?: number}} question
     * @returns {Recommendation[]}
     */
    similar({ item, k }: {
        item: Identifier;
        k?: number;
    }): Recommendation[];
    /**
     * Run the golden queries stored in the file; throws SelfTestFailed if an answer differs.
     *
     * @returns {number} how many there were
     */
    selfTest(): number;
    /**
     * What is inside: mode, sizes by section, hashes, metrics, and whose data it holds.
     *
     * @returns {import('./card.js').Card}
     */
    card(): import("./card.js").Card;
    /**
     * All items with what the file says of them, for search and lists; made one at a time, in the order of the file.
     *
     * @returns {Generator<Item>}
     */
    catalogue(): Generator<Item>;
    /**
     * One of them.
     *
     * @param {Identifier} id
     * @returns {Item | null} null where the file has no such item
     */
    item(id: Identifier): Item | null;
    /**
     * Names of the tags in the file.
     *
     * @returns {string[]}
     */
    tags(): string[];
    /**
     * What the one user of a personal file has seen; nothing in other files.
     *
     * @returns {Identifier[]}
     */
    seen(): Identifier[];
    #private;
}
export type Identifier = import("./ids.js").Identifier;
export type Parts = import("./contents.js").Parts;
export type Some = import("./question.js").Some;
export type History = import("./scorers.js").History;
export type Recommendation = {
    id: Identifier;
    score: number;
    title: string | null;
};
export type Explanation = {
    id: Identifier;
    score: number;
    contributions: Recommendation[];
    term: number;
};
export type Item = {
    id: Identifier;
    title: string | null;
    tags: string[];
    popularity: number;
};
/**
 * scores of all items, and what was seen already
 */
export type Answer = {
    scores: ArrayLike<number>;
    seen: ArrayLike<number>;
};
export type Question = {
    /**
     * a stored user; or give a history
     */
    user?: import("./ids.js").Identifier | undefined;
    /**
     * what someone liked, or one such item; unknown items are ignored
     */
    history?: import("./question.js").Some | null | undefined;
    /**
     * go with the history: negative for a dislike, smaller for what is long ago
     */
    weights?: Iterable<number> | null | undefined;
    /**
     * how many
     */
    k?: number | undefined;
    /**
     * leave these out
     */
    exclude?: import("./question.js").Some | undefined;
    /**
     * and these
     */
    deny?: import("./question.js").Some | null | undefined;
    /**
     * nothing but these
     */
    allow?: import("./question.js").Some | null | undefined;
    /**
     * only items that have one of these
     */
    tags?: string | Iterable<string> | null | undefined;
    /**
     * leave out the history, or what the stored user has seen
     */
    excludeSeen?: boolean | undefined;
};
