/** @typedef {import('./codecs.js').Counts} Counts */
/** @typedef {import('./container.js').Container} Container */
/** @typedef {import('./graph.js').Graph} Graph */
/** @typedef {import('./ids.js').Ids} Ids */
/** @typedef {import('./profile.js').Profile} Profile */
/** @typedef {import('./scorers.js').Scorer} Scorer */
/** @typedef {import('./text.js').TextTable} TextTable */
/** @typedef {{names: TextTable, bits: Uint8Array, width: number}} Tags a row of `width` bytes for each item */
/**
 * @typedef {object} Parts
 * @property {Container} container
 * @property {Profile} profile
 * @property {Record<string, any>} producerCard
 * @property {Scorer} scorer
 * @property {import('./term.js').Terms | null} terms what is added to the scores of the items
 * @property {Graph | null} graph
 * @property {ArrayLike<number>} popularity
 * @property {ArrayLike<number>} seen items of the one stored user
 * @property {TextTable | null} titles
 * @property {Tags | null} tags
 * @property {Ids} ids
 * @property {Ids | null} userIds
 * @property {import('./golden.js').GoldenQuery[]} golden
 */
/**
 * @param {Container} container whose checksum is right
 * @returns {Parts}
 */
export function readParts(container: Container): Parts;
export type Counts = import("./codecs.js").Counts;
export type Container = import("./container.js").Container;
export type Graph = import("./graph.js").Graph;
export type Ids = import("./ids.js").Ids;
export type Profile = import("./profile.js").Profile;
export type Scorer = import("./scorers.js").Scorer;
export type TextTable = import("./text.js").TextTable;
/**
 * a row of `width` bytes for each item
 */
export type Tags = {
    names: TextTable;
    bits: Uint8Array;
    width: number;
};
export type Parts = {
    container: Container;
    profile: Profile;
    producerCard: Record<string, any>;
    scorer: Scorer;
    /**
     * what is added to the scores of the items
     */
    terms: import("./term.js").Terms | null;
    graph: Graph | null;
    popularity: ArrayLike<number>;
    /**
     * items of the one stored user
     */
    seen: ArrayLike<number>;
    titles: TextTable | null;
    tags: Tags | null;
    ids: Ids;
    userIds: Ids | null;
    golden: import("./golden.js").GoldenQuery[];
};
/**
 * which of so many degrees each item has, where they are stored so
 */
export type DegreeLevels = {
    count: number;
    level: Uint8Array;
} | null;
/**
 * what scoring needs
 */
export type Core = {
    degree: Counts;
    degrees: DegreeLevels;
    graph: Graph | null;
    scorer: Scorer;
};
