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
export function topIndices(scores, k, allowed) {
  /** @type {number[]} */
  const heap = []
  let least = -Infinity
  for (let index = 0; index < allowed.length; index++) {
    if (!allowed[index]) continue
    if (heap.length < k) {
      heap.push(index)
      siftUp(heap, scores)
    } else if (scores[index] > least) {
      heap[0] = index
      siftDown(heap, scores)
    } else continue
    if (heap.length === k) least = scores[heap[0]]
  }
  return heap.sort((a, b) => scores[b] - scores[a] || a - b)
}

/**
 * Whether a ranks below b.
 *
 * @param {ArrayLike<number>} scores
 * @param {number} a
 * @param {number} b
 * @returns {boolean}
 */
function isWorse(scores, a, b) {
  return scores[a] < scores[b] || (scores[a] === scores[b] && a > b)
}

/**
 * @param {number[]} heap its last entry is new
 * @param {ArrayLike<number>} scores
 */
function siftUp(heap, scores) {
  let at = heap.length - 1
  for (let parent = (at - 1) >> 1; at > 0 && isWorse(scores, heap[at], heap[parent]); parent = (at - 1) >> 1) {
    [heap[at], heap[parent]] = [heap[parent], heap[at]]
    at = parent
  }
}

/**
 * @param {number[]} heap its first entry is new
 * @param {ArrayLike<number>} scores
 */
function siftDown(heap, scores) {
  for (let at = 0; ;) {
    let worst = at
    for (let child = 2 * at + 1; child <= 2 * at + 2 && child < heap.length; child++) {
      if (isWorse(scores, heap[child], heap[worst])) worst = child
    }
    if (worst === at) return
    [heap[at], heap[worst]] = [heap[worst], heap[at]]
    at = worst
  }
}
