/**
 * Check the form of the golden queries; their answers are checked by the self-test.
 *
 * @param {Record<string, string>} metadata
 * @param {Profile} profile
 * @returns {GoldenQuery[]}
 */
export function readGolden(metadata: Record<string, string>, profile: Profile): GoldenQuery[];
/**
 * The same scores place by place, and the same items except where scores are closer than the tolerance.
 *
 * @template {number | string} Id
 * @param {string} query name for the message
 * @param {{items: Id[], scores: number[]}} expected
 * @param {Id[]} items
 * @param {number[]} scores
 */
export function compareGolden<Id extends number | string>(query: string, expected: {
    items: Id[];
    scores: number[];
}, items: Id[], scores: number[]): void;
/** @typedef {import('./profile.js').Profile} Profile */
/**
 * @typedef {object} GoldenQuery
 * @property {number | null} user an index
 * @property {number[]} history item indices
 * @property {number[]} weights
 * @property {number[]} items the top that belongs to it
 * @property {number[]} scores
 */
/** Weights of a history beyond this are refused, so that no sum overflows. */
export const LARGEST_WEIGHT: 1000000;
export type Profile = import("./profile.js").Profile;
export type GoldenQuery = {
    /**
     * an index
     */
    user: number | null;
    /**
     * item indices
     */
    history: number[];
    weights: number[];
    /**
     * the top that belongs to it
     */
    items: number[];
    scores: number[];
};
