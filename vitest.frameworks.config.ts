import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const conditions = ['ackhook-source', 'node']

// Frameworks that call handlers in a way of their own: `npm run test:frameworks`, which installs them first.
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ['test/frameworks/*.{check,test}.ts'],
    globalSetup: 'test/support/build-packages.ts',
    setupFiles: fileURLToPath(new URL('test/support/patience.ts', import.meta.url)),
    env: { ACKHOOK_FRAMEWORKS: 'installed' },
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
