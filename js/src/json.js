/** JSON as every reader must take it: not nested deeper than the format allows. */

const DEEPEST = 64

/**
 * Parse a text; throws an error of no particular kind where it is not JSON or too deep. The depth is looked up in the text:
 * parsers give up at depths of their own, and drop what a later key of the same name hides.
 *
 * @param {string} text
 * @returns {unknown}
 */
export function parseJson(text) {
  checkDepth(text)
  return JSON.parse(text)
}

/** @param {string} text */
function checkDepth(text) {
  let depth = 0
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]
    if (sign === '"') quoted = !quoted
    else if (quoted) at += sign === '\\' ? 1 : 0
    else if (sign === '{' || sign === '[') depth++
    else if (sign === '}' || sign === ']') depth--
    if (depth > DEEPEST) throw new SyntaxError(`nested deeper than ${DEEPEST}`)
  }
}
