import { defineConfig } from 'vitest/config'

// The built site in a browser: `npm run test:site`, which builds it first.
export default defineConfig({
  test: {
    include: ['test/site/*.check.ts'],
    testTimeout: 240_000,
    hookTimeout: 60_000,
  },
})
