/**
 * The short table of values of some numbers.
 *
 * @param {Container} container
 * @param {string} name
 * @param {string[]} dtypes
 * @param {number} [least]
 * @returns {ReturnType<typeof getTensor>}
 */
export function readValues(container: Container, name: string, dtypes: string[], least?: number): ReturnType<typeof getTensor>;
/**
 * Which of so many values each number is. The length must fit, padding be 0, every value exist.
 *
 * @param {Container} container
 * @param {string} name
 * @param {number} count
 * @param {number} values how many there are
 * @returns {Uint8Array}
 */
export function readLevels(container: Container, name: string, count: number, values: number): Uint8Array;
export type Container = import("./container.js").Container;
import { getTensor } from './container.js';
