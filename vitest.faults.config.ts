import { defineConfig, mergeConfig } from 'vitest/config'
import base from './vitest.config.ts'

// The whole load of each fault, minutes of it: `npm run test:faults`. The default run takes a part.
export default mergeConfig(
  { ...base, test: { ...base.test, include: [], exclude: [] } },
  defineConfig({
    test: {
      include: ['test/faults/**/*.test.ts'],
      exclude: ['**/node_modules/**'],
      fileParallelism: false,
      testTimeout: 900_000,
      hookTimeout: 60_000,
    },
  }),
)
