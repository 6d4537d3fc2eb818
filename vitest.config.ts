import { configDefaults, defineConfig } from 'vitest/config'

// Vitest hands these to its child processes as --conditions. 'import' is not among them: with it there, the
// `require` of a package such as pg would be given ES modules.
const conditions = ['ackhook-source', 'node', 'default']

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
