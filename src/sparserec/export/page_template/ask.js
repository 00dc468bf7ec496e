/** The line to the engine: a worker built from the engine's own script, or the same functions in this thread. */

import { inside } from './view.js'

/** @typedef {(method: string, question?: any) => Promise<any>} Ask */

/**
 * Open the model inside the page.
 *
 * @returns {Promise<Ask>}
 */
export async function connectEngine() {
  const holder = inside(document.body, '#model')
  const text = holder.textContent
  holder.remove() // the engine has it now; the page need not keep a second copy
  const worker = startWorker()
  if (worker) {
    const ask = askWorker(worker)
    try {
      await ask('open', text)
      return ask
    } catch (error) {
      worker.terminate()
      if (!(error instanceof Error) || error.name !== 'NoWorker') throw error
    }
  }
  // @ts-ignore the script before this one
  const engine = await sparserecEngine.openEngine(text)
  return async (method, question) => engine[method](question)
}

function startWorker() {
  try {
    const script = `${inside(document.body, '#engine').textContent}\nsparserecEngine.serveEngine()`
    const url = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }))
    const worker = new Worker(url)
    worker.addEventListener('message', () => URL.revokeObjectURL(url), { once: true })
    return worker
  } catch {
    return null
  }
}

/**
 * @param {Worker} worker
 * @returns {Ask}
 */
function askWorker(worker) {
  /** @type {Map<number, {resolve: (value: any) => void, reject: (error: Error) => void}>} */
  const waiting = new Map()
  let count = 0
  worker.onmessage = ({ data: { number, value, error } }) => {
    const { resolve, reject } = waiting.get(number) ?? {}
    waiting.delete(number)
    if (error) reject?.(Object.assign(new Error(error.message), { name: error.name }))
    else resolve?.(value)
  }
  worker.onerror = event => {
    event.preventDefault()
    for (const { reject } of waiting.values()) reject(Object.assign(new Error('no worker here'), { name: 'NoWorker' }))
    waiting.clear()
  }
  return (method, question) => new Promise((resolve, reject) => {
    waiting.set(++count, { resolve, reject })
    worker.postMessage({ number: count, method, question })
  })
}
