import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Not 'import' nor 'default': Vitest hands these to Node, where they would spoil the require of every package.
const conditions = ['ackhook-source', 'node']
const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const ssr = { resolve: { conditions, externalConditions: conditions } }
const seed = /--sequence\.seed[= ](\d+)/.exec(process.argv.join(' '))?.[1] ?? `${Date.now() % 2 ** 31}`
const patient = {
  // Read by test/support/random.ts, which prints it.
  env: { TEST_SEED: seed },
  testTimeout: 60_000,
  hookTimeout: 60_000,
  // The limit of `expect.poll` is set here, and that of `vi.waitFor`, which no option reaches, in the file.
  expect: { poll: { timeout: 20_000 } },
  setupFiles: fileOf('test/support/patience.ts'),
}
/** Installs the servers that tests start, and builds what child processes load. */
const withServers = {
  runner: fileURLToPath(new URL('test/support/missing-program-runner.ts', import.meta.url)),
  globalSetup: ['test/support/install-services.ts', 'test/support/build-packages.ts'],
}

/** Tests on the sources alone: they start no server, need no build and take seconds. */
const UNIT = ['packages/*/src/**/*.test.ts', 'ui/src/**/*.test.ts', 'test/packaging/*.test.ts']
/** Tests of what only the platform of Workers has. */
const ON_WEB = 'packages/core/src/inbox/memory/per-request-scheduler.test.ts'
/** Workers have `node:http` as well. */
const ON_WEB_TOO = 'packages/core/src/node/to-node-handler.test.ts'

/**
 * Tests with servers, processes or a browser that `npm test` runs, in three minutes: each published suite once an engine,
 * the vectors, the adapters, a journey through each page. A new file is left to `npm run test:all` unless it is named here.
 */
const FOR_PEOPLE = [
  'packages/{cloudflare,testing}/test/*.test.ts',
  'packages/client/test/documented-curl.test.ts',
  'packages/core/test/{default-logger,exit,timeouts,two-copies}.test.ts',
  'packages/bullmq/test/inbox-suite-{postgres,redis}.test.ts',
  'packages/redis/test/store-suite.test.ts',
  'packages/sql/test/{effects,store-suite*}.test.ts',
  'packages/sqlite/test/{close,letters,order,outage,processes,stats,unreadable}.test.ts',
  'packages/sqs/test/{lambda,worker}.test.ts',
  'packages/cli/test/{cli,inbox}.test.ts',
  'packages/dashboard/test/{api,batches,handling,journey,mounts}.test.ts',
  'packages/emulator/test/{delivery,determinism,endpoints,http-api,journey}.test.ts',
  'test/conformance/{adapters,hono-read-before,sqlite-inbox,traces,wrong-options}.test.ts',
  'test/docs/{compile,deploying,errors,links,printed-secrets,site}.test.ts',
  'test/emulator/client-round-trip.test.ts',
  'test/{journeys,vectors}/*.test.ts',
  'test/property/forged.test.ts',
]

/**
 * Starts with the files that wait the most. Without times of an earlier run Vitest sorts by size, and the longest three have
 * the fewest lines.
 */
class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const waits = ({ moduleId }: TestSpecification) => /inbox-suite-|sqlite-inbox\.test/.test(moduleId)
    return [...sorted.filter(waits), ...sorted.filter(file => !waits(file))]
  }
}

/** Tests of `npm run test:all` that have a longer form for the fault run: see test/support/in-full.ts. */
const LONGER = [
  'packages/bullmq/test/{cut-off,healing,network,order,retention,sealed-inbox-suite-*,taking}.test.ts',
  'packages/cloudflare/test/{cloudflare-queue-inbox,store-suite}.test.ts',
  'packages/core/test/memory-bound.test.ts',
  'packages/redis/test/{healing,replicas,store-suite}.test.ts',
  'packages/sql/test/{faults,store-suite}.test.ts',
  'packages/sqs/test/worker.test.ts',
  // The clones of other runs have no earlier commit.
  'packages/sqlite/test/other-forms.test.ts',
  'packages/dashboard/test/{bounds,filters,proxy,trouble}.test.ts',
  'packages/emulator/test/{bounds,filters,tabs}.test.ts',
  'test/{conformance/{adapters,sealed-sqlite-inbox,sqlite-inbox},docs/extending,emulator/memory,examples/examples,hosts/body-attacks}.test.ts',
  'test/{inbox/unready-clients,property/stripe-oracle,shutdown/rolling-deployment,telemetry/alerts}.test.ts',
]
/** Everything on both pages, in a browser. `npm test` makes the journeys through them. */
const PAGES = 'packages/{dashboard,emulator}/test/{pages,page-states}.test.ts'
/** Checks of the packed packages, each in an empty folder and too heavy for `npm run lint:packages`. */
const HEAVY = ['nextjs', 'frameworks', 'peers', 'create', 'tabs']

const WITH_SERVERS = ['packages/*/test/**/*.test.ts', 'test/**/*.test.ts']
const ELSEWHERE = [...UNIT, 'test/{runtimes,postgres,databases,rolling}/**', 'test/faults/**']

/** Workers of a project that has a number of its own: such projects run one after the other. */
let group = 0
const alone = (maxWorkers: number) => ({ maxWorkers, sequence: { groupOrder: ++group } })

function project(test: NonNullable<TestProjectInlineConfiguration['test']>): TestProjectInlineConfiguration {
  return {
    resolve: { conditions },
    ssr,
    test: { provide: { platform: 'node' }, ...patient, ...test, env: { ...patient.env, ...test.env } },
  }
}

/** `npm test` runs the first three, `npm run test:all` the fourth as well. */
const DAILY: TestProjectInlineConfiguration[] = [
  // One process for all files of a worker: half of the time would go into starting one for each.
  project({ name: 'unit', include: UNIT, isolate: false, exclude: [...configDefaults.exclude, ON_WEB] }),
  {
    // Vitest adds the condition `node` to any list, so the platform of Workers is named and not resolved.
    resolve: {
      conditions,
      alias: {
        '#platform': fileOf('packages/core/src/platform/web/platform.ts'),
        '#scheduler': fileOf('packages/core/src/inbox/memory/per-request-scheduler.ts'),
        '#collect-body': fileOf('packages/core/src/node/collect-without-raw-body.ts'),
        '#evaluation': fileOf('packages/core/src/receiver/no-evaluation.ts'),
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
  project({ name: 'integration', include: FOR_PEOPLE, ...withServers }),
  project({
    name: 'rest',
    include: WITH_SERVERS,
    exclude: [...configDefaults.exclude, ...ELSEWHERE, ...FOR_PEOPLE, PAGES],
    ...withServers,
  }),
]

/** Those with a script of their own, which names them by `--project`. */
const BY_NAME: TestProjectInlineConfiguration[] = [
  // The whole load of each fault, minutes of it. One at a time: each of them loads the machine by itself.
  project({
    name: 'faults',
    include: ['test/faults/**/*.test.ts', ...LONGER],
    env: { IN_FULL: '1' },
    testTimeout: 900_000,
    ...withServers,
    ...alone(1),
  }),
  // Faulty stores, inboxes and adapters, each of which its suite must fail: the measure of the suites. Most of them wait
  // for a lease or a retry. More at once would spoil the cases that measure time.
  project({
    name: 'mutants',
    include: ['test/mutants/*.check.ts'],
    maxConcurrency: 8,
    testTimeout: 300_000,
    ...alone(2),
  }),
  // The version that last changed a stored form beside this one, from a clone with its commit.
  project({ name: 'rolling', include: ['test/rolling/*.test.ts'], ...withServers, ...alone(1) }),
  // Frameworks that call handlers in a way of their own, from a folder with its own lock file.
  project({
    name: 'frameworks',
    include: ['test/frameworks/*.{check,test}.ts'],
    globalSetup: 'test/support/build-packages.ts',
    env: { ACKHOOK_FRAMEWORKS: 'installed' },
    ...alone(5),
  }),
  // Real hosts, each from its own generator or package and by its page, and real logger libraries.
  project({
    name: 'hosts',
    include: ['test/hosts/*.check.ts'],
    globalSetup: 'test/packaging/pack.ts',
    testTimeout: 600_000,
    hookTimeout: 600_000,
    ...alone(1),
  }),
  // Database libraries, newest and oldest, from a folder with its own lock file.
  project({
    name: 'databases',
    include: ['test/databases/*.check.mjs'],
    globalSetup: ['test/support/install-services.ts', 'test/support/build-packages.ts'],
    ...alone(2),
  }),
  project({
    name: 'pages',
    include: [PAGES],
    env: { IN_FULL: '1' },
    testTimeout: 240_000,
    ...withServers,
    ...alone(2),
  }),
  // Pictures of the pages, for the documentation.
  project({
    name: 'images',
    include: ['packages/*/test/*.images.ts'],
    testTimeout: 240_000,
    ...withServers,
    ...alone(1),
  }),
  // The built site in a browser.
  project({ name: 'site', include: ['test/site/*.check.ts'], testTimeout: 240_000, ...alone(3) }),
  // The packages that users get: tarballs, installed elsewhere.
  ...[
    ['packages', 'test/packaging/**/*.check.ts'] as const,
    ...HEAVY.map(name => [`packages-${name}`, `test/packaging/${name}.heavy.ts`] as const),
  ].map(([name, include]) =>
    project({
      name,
      include: [include],
      globalSetup: ['test/packaging/pack.ts', 'test/support/install-services.ts'],
      testTimeout: 300_000,
      hookTimeout: 300_000,
      ...alone(2),
    }),
  ),
]

const isNamed = process.argv.some(argument => argument.startsWith('--project'))

export default defineConfig({
  test: {
    // Much of the time goes into waiting for servers and processes: with six, tests that measure time failed on two cores.
    maxWorkers: 5,
    sequence: { sequencer: WaitingFirst },
    coverage: {
      provider: 'v8',
      include: ['packages/core/src/**/*.ts'],
      exclude: ['**/*.test.ts', '**/*.test-d.ts', '**/index.ts'],
      thresholds: { branches: 95 },
    },
    // Without a name, a path is looked for in the daily ones alone, so that nothing runs twice.
    projects: isNamed ? [...DAILY, ...BY_NAME] : DAILY,
  },
})

declare module 'vitest' {
  export interface ProvidedContext {
    platform: 'node' | 'web'
  }
}
