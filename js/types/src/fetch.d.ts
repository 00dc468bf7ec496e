/**
 * @param {string | URL} url
 * @param {{onProgress?: (progress: Progress) => void, signal?: AbortSignal}} [options]
 * @returns {Promise<import('./model.js').Model>}
 */
export function loadFromUrl(url: string | URL, { onProgress, signal }?: {
    onProgress?: (progress: Progress) => void;
    signal?: AbortSignal;
}): Promise<import("./model.js").Model>;
/**
 * bytes so far, and of the whole where the server says
 */
export type Progress = {
    loaded: number;
    total: number | null;
};
