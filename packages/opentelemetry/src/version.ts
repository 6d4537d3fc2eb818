/** Of this package. `scripts/write-version.mjs` writes it at each release. */
export const VERSION = '0.1.0'
