import { defineConfig } from 'vitest/config'

const conditions = ['ackhook-source', 'node']

/** The tests that mutants of the verifying part of the core must not survive. Used by stryker.config.mjs. */
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: [
      'packages/core/src/{verify/{signature,signature-header,timestamp,verify-request},events/{envelope,decode-event}}.test.ts',
    ],
  },
})
