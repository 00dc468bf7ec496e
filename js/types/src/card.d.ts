/**
 * @typedef {object} Card
 * @property {string} mode
 * @property {string} base
 * @property {number} items
 * @property {number} users
 * @property {number} dim
 * @property {boolean} self_loops
 * @property {string} format_version
 * @property {string} sha256
 * @property {number} bytes
 * @property {Record<string, number>} sections bytes of each; they add up to the file
 * @property {string} item_ids
 * @property {boolean} titles
 * @property {number} tags
 * @property {number} golden_queries
 * @property {string} data_inside
 * @property {Record<string, any>} card what the producer wrote
 */
/**
 * Everything a page would show about a file, as plain values.
 *
 * @param {Parts} parts
 * @returns {Card}
 */
export function describeModel({ container, profile, producerCard, titles, tags, golden }: Parts): Card;
export type Card = {
    mode: string;
    base: string;
    items: number;
    users: number;
    dim: number;
    self_loops: boolean;
    format_version: string;
    sha256: string;
    bytes: number;
    /**
     * bytes of each; they add up to the file
     */
    sections: Record<string, number>;
    item_ids: string;
    titles: boolean;
    tags: number;
    golden_queries: number;
    data_inside: string;
    /**
     * what the producer wrote
     */
    card: Record<string, any>;
};
export type Parts = import("./contents.js").Parts;
