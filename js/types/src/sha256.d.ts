/**
 * Digest by WebCrypto, or by the plain version where that is missing.
 *
 * @param {Uint8Array} bytes
 * @returns {Promise<string>} 64 hex digits
 */
export function fileDigest(bytes: Uint8Array): Promise<string>;
/**
 * Digest in plain JavaScript, without a copy of the file.
 *
 * @param {Uint8Array} bytes
 * @returns {string} 64 hex digits
 */
export function plainFileDigest(bytes: Uint8Array): string;
/**
 * SHA-256 of a model file, whose own 64 digits count as zeros. WebCrypto is used where there is one; a page opened from
 * file:// may have none, hence the plain version.
 */
export const DIGEST_START: 35;
export const DIGEST_END: number;
