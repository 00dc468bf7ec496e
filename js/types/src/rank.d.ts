/** The top of a list of scores; ties are broken by position, here and nowhere else. */
/**
 * Indices of the k largest scores, largest first, lower index first among equals. One pass with a heap whose root is the worst
 * of the best so far: nearly all items fall to the first comparison.
 *
 * @param {ArrayLike<number>} scores
 * @param {number} k
 * @param {Uint8Array} allowed 0 where an item may not be in the answer
 * @returns {number[]}
 */
export function topIndices(scores: ArrayLike<number>, k: number, allowed: Uint8Array): number[];
