import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'

// Not 'import' nor 'default': Vitest hands these to Node, where they would spoil the require of every package.
const conditions = ['ackhook-source', 'node']
const webPlatform = fileURLToPath(new URL('packages/core/src/platform/web/platform.ts', import.meta.url))
/** Tests of what only that platform has. */
const ON_WEB = 'packages/core/src/inbox/memory/per-request-scheduler.test.ts'
const resolve = { conditions }
const ssr = { resolve: { conditions, externalConditions: conditions } }

export default defineConfig({
  test: {
    // Most of the time goes into waiting for servers and processes. Vitest leaves one of two cores unused.
    maxWorkers: 2,
    globalSetup: ['test/support/install-services.ts', 'test/support/build-packages.ts'],
    coverage: {
      provider: 'v8',
      include: ['packages/core/src/**/*.ts'],
      exclude: ['**/*.test.ts', '**/*.test-d.ts', '**/index.ts'],
      thresholds: { branches: 95 },
    },
    projects: [
      {
        resolve,
        ssr,
        test: {
          name: 'node',
          include: ['packages/*/{src,test}/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, 'test/runtimes/**', 'test/faults/**', ON_WEB],
          provide: { platform: 'node' },
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        // Vitest adds the condition `node` to any list, so the platform of Workers is named and not resolved.
        resolve: { conditions, alias: { '#platform': webPlatform } },
        ssr,
        test: {
          name: 'web',
          include: ['test/vectors/*.test.ts', ON_WEB],
          provide: { platform: 'web' },
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
})

declare module 'vitest' {
  export interface ProvidedContext {
    platform: 'node' | 'web'
  }
}
