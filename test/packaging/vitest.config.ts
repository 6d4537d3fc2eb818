import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

// Tests the packages that users get: tarballs, installed elsewhere. Too heavy for `npm test`. `--mode` runs a check that is
// too heavy even for the default run here.
const HEAVY = ['nextjs', 'frameworks', 'peers', 'create']
/** Modes whose apps connect to a server. */
const WITH_SERVICES = ['peers', 'create']

export default defineConfig(({ mode }) => ({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: [HEAVY.includes(mode) ? `test/packaging/${mode}.heavy.ts` : 'test/packaging/**/*.check.ts'],
    globalSetup: [
      'test/packaging/pack.ts',
      ...(WITH_SERVICES.includes(mode) ? ['test/support/install-services.ts'] : []),
    ],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: 2,
  },
}))
