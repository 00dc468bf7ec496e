/**
 * Under what name the coefficients of the filter are stored: another one in files with terms, so that a reader that would not
 * add them refuses the file.
 *
 * @param {Container} container
 * @returns {string}
 */
export function coefficientsName({ entries }: Container): string;
/**
 * @param {Container} container
 * @param {number} items
 * @param {{count: number, level: Uint8Array} | null} degrees levels of the degrees, where they are stored so
 * @returns {Terms | null}
 */
export function readTerms(container: Container, items: number, degrees: {
    count: number;
    level: Uint8Array;
} | null): Terms | null;
/**
 * @param {Terms | null} terms
 * @param {number} item
 * @returns {number} 0 where the file has none
 */
export function termOf(terms: Terms | null, item: number): number;
/**
 * Scores of all items with their terms.
 *
 * @param {Terms | null} terms
 * @param {Float64Array} scores
 * @returns {Float64Array}
 */
export function withTerms(terms: Terms | null, scores: Float64Array): Float64Array;
export type Container = import("./container.js").Container;
/**
 * a few values, and which of them each item has
 */
export type Terms = {
    value: Float32Array;
    level: Uint8Array;
};
