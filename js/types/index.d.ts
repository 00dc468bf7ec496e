export * from "./src/errors.js";
export { loadFromUrl } from "./src/fetch.js";
export { getTensor } from "./src/container.js";
export { READERS } from "./src/tables.js";
export { load, loadSync, Model } from "./src/model.js";
export { takeEntries, takeRows } from "./src/memorylimit.js";
