import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

// What a user gets: tarballs of the built packages, installed elsewhere. Heavy, so it is not part of `npm test`.
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['test/packaging/**/*.check.ts'],
    globalSetup: ['test/packaging/pack.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: 2,
  },
})
