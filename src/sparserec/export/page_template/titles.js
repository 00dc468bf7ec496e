/** Titles as people say them. */

const ARTICLES = "The|A|An|Le|La|Les|L'|Un|Une|Il|Lo|Gli|El|Los|Las|Der|Die|Das|Ein|Eine|Den|Det|De|Het|O|Os|As"
const MOVED = new RegExp(`(^|\\()([^()]+), (${ARTICLES})(?=\\s*(?:\\(|\\)|$))`, 'g')

/**
 * A catalogue's "English Patient, The (1996)" as "The English Patient (1996)"; names in brackets alike.
 *
 * @param {string} title
 * @returns {string}
 */
export function readable(title) {
  return title.replace(MOVED, (_, open, name, article) => `${open}${article}${article.endsWith("'") ? '' : ' '}${name}`)
}
