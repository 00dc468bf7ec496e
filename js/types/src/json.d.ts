/**
 * Parse a text; throws an error of no particular kind where it is not JSON or too deep. The depth is looked up in the text:
 * parsers give up at depths of their own, and drop what a later key of the same name hides.
 *
 * @param {string} text
 * @returns {unknown}
 */
export function parseJson(text: string): unknown;
