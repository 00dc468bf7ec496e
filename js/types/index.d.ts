export * from "./src/errors.js";
export { loadFromUrl } from "./src/fetch.js";
export { load, loadSync, Model } from "./src/model.js";
