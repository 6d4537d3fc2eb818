import { fileURLToPath } from 'node:url'

/** The folder above this app and the packages that it uses. */
const root = fileURLToPath(new URL('../../..', import.meta.url))

export default { turbopack: { root }, outputFileTracingRoot: root }
