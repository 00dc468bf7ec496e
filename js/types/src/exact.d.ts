/**
 * Smallest power of two above a positive number, read off the bits of the float.
 *
 * @param {number} value
 * @returns {number}
 */
export function powerAbove(value: number): number;
/**
 * Round to multiples of p * 2^-bits, p the smallest power of two above the largest magnitude. In place: callers own the values.
 *
 * @param {Float64Array} values
 * @param {number} bits
 * @returns {boolean} whether any value was not zero
 */
export function snap(values: Float64Array, bits: number): boolean;
/**
 * Smallest b with 2^b >= count.
 *
 * @param {number} count
 * @returns {number}
 */
export function bitsFor(count: number): number;
