import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

// What a user gets: tarballs of the built packages, installed elsewhere. Heavy, so it is not part of `npm test`.
// `--mode nextjs` runs the one check that is too heavy even for here.
export default defineConfig(({ mode }) => ({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: [mode === 'nextjs' ? 'test/packaging/nextjs.heavy.ts' : 'test/packaging/**/*.check.ts'],
    globalSetup: ['test/packaging/pack.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: 2,
  },
}))
