/** Version of this package. `scripts/version-packages.mjs` writes it at each release. */
export const VERSION = '0.0.0'
