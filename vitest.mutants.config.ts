import { defineConfig } from 'vitest/config'

const conditions = ['ackhook-source', 'node']

/** Faulty stores, inboxes and adapters, each of which its suite must fail: the measure of the suites. */
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ['test/mutants/*.check.ts'],
    // Most of them wait for a lease or a retry. More at once would spoil the cases that measure time.
    maxConcurrency: 8,
    testTimeout: 300_000,
    // A faulty implementation may reject where nobody listens.
    dangerouslyIgnoreUnhandledErrors: true,
  },
})
