import { defineConfig } from 'vitest/config'

const conditions = ['ackhook-source', 'node']

// The whole load of each fault, minutes of it: `npm run test:faults`. The default run takes a part.
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ['test/faults/**/*.test.ts'],
    globalSetup: ['test/support/install-services.ts', 'test/support/build-packages.ts'],
    // One at a time: each of them loads the machine by itself.
    fileParallelism: false,
    testTimeout: 900_000,
    hookTimeout: 60_000,
  },
})
