import { configDefaults, defineConfig } from 'vitest/config'

// Not 'import' nor 'default': Vitest hands these to Node, where they would spoil the require of every package.
const conditions = ['ackhook-source', 'node']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, 'test/runtimes/**', 'test/faults/**'],
    globalSetup: ['test/support/install-services.ts'],
    testTimeout: 20_000,
    coverage: {
      provider: 'v8',
      include: ['packages/core/src/**/*.ts'],
      exclude: ['**/*.test.ts', '**/*.test-d.ts', '**/index.ts'],
    },
  },
})
