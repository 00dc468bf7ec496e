/**
 * @typedef {object} Profile
 * @property {string} mode items, full, personal or neighbours
 * @property {string} base name of the recommender
 * @property {number} items
 * @property {number} users
 * @property {number} dim
 * @property {boolean} selfLoops
 * @property {number} foldTables
 * @property {string} itemIds range, int or string
 * @property {string | null} userIds
 * @property {string | number | null} userId
 * @property {number | null} sizePower null: the fold-in weights are those of the degrees, as in 1.0
 */
/**
 * Check field by field, in the order of docs/format.md.
 *
 * @param {Record<string, string>} metadata
 * @returns {Profile}
 */
export function readProfile(metadata: Record<string, string>): Profile;
/**
 * A JSON object kept as text in the metadata.
 *
 * @param {Record<string, string>} metadata
 * @param {string} key
 * @returns {Record<string, any>}
 */
export function readObject(metadata: Record<string, string>, key: string): Record<string, any>;
export type Profile = {
    /**
     * items, full, personal or neighbours
     */
    mode: string;
    /**
     * name of the recommender
     */
    base: string;
    items: number;
    users: number;
    dim: number;
    selfLoops: boolean;
    foldTables: number;
    /**
     * range, int or string
     */
    itemIds: string;
    userIds: string | null;
    userId: string | number | null;
    /**
     * null: the fold-in weights are those of the degrees, as in 1.0
     */
    sizePower: number | null;
};
