import { fileURLToPath } from 'node:url'

/** The common folder of this app and the packages that it uses. */
const root = fileURLToPath(new URL('../../..', import.meta.url))

export default {
  serverExternalPackages: ['@ackhook/core', '@ackhook/sqlite'],
  turbopack: { root },
  outputFileTracingRoot: root,
}
