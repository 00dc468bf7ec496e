/**
 * Open a model file.
 *
 * @param {string | URL} path
 * @returns {Promise<import('./src/model.js').Model>}
 */
export function loadFile(path: string | URL): Promise<import("./src/model.js").Model>;
export * from "./index.js";
