import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'

// Not 'import' nor 'default': Vitest hands these to Node, where they would spoil the require of every package.
const conditions = ['ackhook-source', 'node']
const core = new URL('packages/core/src/', import.meta.url)
const webPlatform = fileURLToPath(new URL('platform/web/platform.ts', core))
const webScheduler = fileURLToPath(new URL('inbox/memory/per-request-scheduler.ts', core))
const webCollector = fileURLToPath(new URL('node/collect-without-raw-body.ts', core))
const webEvaluation = fileURLToPath(new URL('receiver/no-evaluation.ts', core))
/** Tests of what only that platform has. */
const ON_WEB = 'packages/core/src/inbox/memory/per-request-scheduler.test.ts'
/** Workers have `node:http` as well. */
const ON_WEB_TOO = 'packages/core/src/node/to-node-handler.test.ts'
/** Tests on the sources alone: they start no server, need no build and take seconds. */
const UNIT = ['packages/*/src/**/*.test.ts', 'ui/src/**/*.test.ts', 'test/packaging/*.test.ts']
const resolve = { conditions }
const ssr = { resolve: { conditions, externalConditions: conditions } }
const patient = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  // The limit of `expect.poll` is set here, and that of `vi.waitFor`, which no option reaches, in the file.
  expect: { poll: { timeout: 20_000 } },
  setupFiles: fileURLToPath(new URL('test/support/patience.ts', import.meta.url)),
}

export default defineConfig({
  test: {
    // Much of the time goes into waiting for servers and processes: with six, tests that measure time failed on two cores.
    maxWorkers: 5,
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
          name: 'unit',
          include: UNIT,
          // One process for all files of a worker: half of the time would go into starting one for each.
          isolate: false,
          exclude: [...configDefaults.exclude, ON_WEB],
          provide: { platform: 'node' },
          ...patient,
        },
      },
      {
        resolve,
        ssr,
        test: {
          name: 'integration',
          include: ['packages/*/test/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...UNIT, 'test/{runtimes,postgres}/**', 'test/faults/**'],
          runner: fileURLToPath(new URL('test/support/missing-program-runner.ts', import.meta.url)),
          globalSetup: ['test/support/install-services.ts', 'test/support/build-packages.ts'],
          provide: { platform: 'node' },
          ...patient,
        },
      },
      {
        // Vitest adds the condition `node` to any list, so the platform of Workers is named and not resolved.
        resolve: {
          conditions,
          alias: {
            '#platform': webPlatform,
            '#scheduler': webScheduler,
            '#collect-body': webCollector,
            '#evaluation': webEvaluation,
          },
        },
        ssr,
        test: {
          name: 'web',
          include: ['test/vectors/*.test.ts', ON_WEB, ON_WEB_TOO],
          provide: { platform: 'web' },
          ...patient,
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
