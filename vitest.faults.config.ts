import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const conditions = ['ackhook-source', 'node']

/** Tests of the default run that have a longer form: see test/support/in-full.ts. */
const LONGER = [
  'packages/bullmq/test/{healing,many-queues,network,order,retention,taking}.test.ts',
  'packages/core/test/memory-bound.test.ts',
  'packages/cloudflare/test/{cloudflare-queue-inbox,store-suite}.test.ts',
  'packages/redis/test/{healing,replicas,store-suite}.test.ts',
  'packages/sqs/test/worker.test.ts',
  'packages/dashboard/test/{filters,page-states,pages,proxy}.test.ts',
  'packages/emulator/test/{filters,page-states,pages}.test.ts',
  'test/{conformance/adapters,docs/extending,emulator/memory,examples/examples}.test.ts',
  'test/{inbox/unready-clients,shutdown/rolling-deployment,telemetry/alerts}.test.ts',
]

// The whole load of each fault, minutes of it: `npm run test:faults`. The default run takes a part.
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ['test/faults/**/*.test.ts', ...LONGER],
    env: { IN_FULL: '1' },
    setupFiles: fileURLToPath(new URL('test/support/patience.ts', import.meta.url)),
    expect: { poll: { timeout: 20_000 } },
    globalSetup: ['test/support/install-services.ts', 'test/support/build-packages.ts'],
    // One at a time: each of them loads the machine by itself.
    fileParallelism: false,
    testTimeout: 900_000,
    hookTimeout: 60_000,
  },
})
