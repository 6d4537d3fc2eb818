import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

// What a user gets: tarballs of the built packages, installed elsewhere. Heavy, so it is not part of `npm test`.
// `--mode nextjs`, `--mode frameworks` and `--mode peers` run the checks that are too heavy even for here.
const HEAVY = ['nextjs', 'frameworks', 'peers']

export default defineConfig(({ mode }) => ({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: [HEAVY.includes(mode) ? `test/packaging/${mode}.heavy.ts` : 'test/packaging/**/*.check.ts'],
    globalSetup: [
      'test/packaging/pack.ts',
      ...(mode === 'peers' ? ['test/support/install-services.ts'] : []),
    ],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: 2,
  },
}))
