import { configDefaults, defineConfig } from 'vitest/config'

const conditions = ['ackhook-source', 'node', 'import', 'default']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, 'test/runtimes/**', 'test/faults/**'],
    globalSetup: ['test/support/install-services.ts', 'test/support/build-packages.ts'],
    testTimeout: 20_000,
    coverage: {
      provider: 'v8',
      include: ['packages/core/src/**/*.ts'],
      exclude: ['**/*.test.ts', '**/*.test-d.ts', '**/index.ts'],
    },
  },
})
