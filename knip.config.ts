import { readdirSync } from 'node:fs'
import type { KnipConfig } from 'knip'
import { workspacePackages } from './test/support/workspace-packages.ts'

const ready = workspacePackages().map(one => one.folder)
const waiting = readdirSync('packages').filter(folder => !ready.includes(folder))
const packageSources = ['test/**/*.{ts,mjs}', 'src/**/*.ts!', '!src/**/*.test.ts!', '!src/**/*.test-d.ts!']
const packageTests = ['{src,test}/**/*.{test,images}.ts', 'src/**/*.test-d.ts', 'test/**/*.mjs']

/** Looks for files, exports and dependencies that nothing uses. Also run with `--production`. */
const config: KnipConfig = {
  ignoreExportsUsedInFile: true,
  // Called by name, from scripts and from test/packaging.
  ignoreBinaries: ['tsc', 'redis-server', 'apt-get', 'dpkg-deb', 'mariadb-install-db', 'mount', 'umount'],
  ignoreDependencies: [
    'turbo',
    '@arethetypeswrong/cli',
    'publint',
    '@changesets/cli',
    /^@stryker-mutator\//,
    'fast-check',
  ],
  // A package without its sources uses nothing yet, and neither do the tests that cross packages.
  ignoreWorkspaces: [
    ...waiting.map(folder => `packages/${folder}`),
    ...(waiting.length > 0 ? ['test', 'examples/*'] : []),
  ],
  workspaces: {
    '.': {
      entry: ['scripts/*.mjs'],
      project: ['scripts/**'],
      ...(waiting.length > 0 && {
        ignoreDependencies: ['fast-check', 'zod'],
      }),
    },
    'packages/*': { entry: packageTests, project: packageSources },
    'packages/core': {
      // Chosen through the import map of package.json.
      entry: [
        'src/platform/{node,web}/platform.ts!',
        'src/node/collect-*-raw-body.ts!',
        'src/receiver/*evaluation.ts!',
        ...packageTests,
      ],
      project: packageSources,
      // Its tests use packages that need it: listed, they would make the build a circle.
      ignoreDependencies: ['@ackhook/testing'],
    },
    'packages/testing': {
      entry: packageTests,
      project: packageSources,
      ignoreDependencies: ['@ackhook/express'],
    },
    'packages/sqlite': {
      // Started by its address, as a thread.
      entry: ['src/engine/thread.ts!', ...packageTests],
      project: packageSources,
      ignoreDependencies: ['@photostructure/sqlite', '@ackhook/testing'],
    },
    // Chosen by name, where node:sqlite is too old; and the dashboard that its tests show a receiver with.
    'packages/emulator': {
      entry: packageTests,
      project: packageSources,
      ignoreDependencies: ['@photostructure/sqlite', '@ackhook/dashboard'],
    },
    // The peers that the tests under test/ run them with.
    'packages/hono': {
      entry: packageTests,
      project: packageSources,
      ignoreDependencies: ['@hono/node-server'],
    },
    // A peer of Nest itself, and what its tests send with.
    'packages/nestjs': {
      entry: packageTests,
      project: packageSources,
      ignoreDependencies: ['rxjs', '@ackhook/testing', 'supertest'],
    },
    // A peer that only `ui/` bundles, and frameworks that its tests mount it in.
    'packages/dashboard': { entry: packageTests, project: packageSources, ignoreDependencies: ['fastify'] },
    ui: {
      entry: ['build.mjs!', 'dev.mjs!', 'src/*/main.tsx!'],
      project: ['src/**/*.{ts,tsx}!', '*.mjs!'],
      // Its build imports a file of it by the path.
      ignoreDependencies: ['ackhook'],
    },
    // Optional peers: the inboxes that its tests run it with, and the driver that the emulator chooses by name.
    'packages/cli': {
      entry: packageTests,
      project: packageSources,
      ignoreDependencies: [
        '@ackhook/bullmq',
        '@ackhook/contract',
        '@ackhook/mcp',
        '@ackhook/sql',
        '@ackhook/sqlite',
        '@photostructure/sqlite',
      ],
    },
    'packages/redis': { entry: packageTests, project: packageSources, ignoreDependencies: ['ioredis'] },
    'examples/*': { entry: ['src/*.mjs!', 'src/{demo,server}.ts!'], project: ['src/**/*.{mjs,ts}!'] },
    test: {
      entry: [
        '**/*.test.ts',
        '{faults,inbox}/**/fixtures/*.mjs',
        // Started by their path.
        'faults/inbox/*-child.mjs',
        'rolling/child.mjs',
        'inbox/vite-server.mjs',
        '{agents,postgres,runtimes,support,vectors,windows}/*.mjs',
        'packaging/*.{check,heavy,config}.ts',
        '{frameworks,hosts,site}/*.check.ts',
        'mutants/*.check.ts',
        // Imported by the folder.
        'mutants/{stores,inboxes,adapters}/*.ts',
        // Run by other test runners than ours.
        'frameworks/{jsdom,jest}/*.mjs',
        'packaging/pack.ts',
        'support/install-services.ts',
      ],
      project: [
        '**/*.{ts,mjs}',
        '!packaging/fixtures/**',
        '!databases/**',
        '!hosts/loggers/**',
        '!frameworks/{cloudflare,nextjs,nextjs-dev,nitro,sveltekit,shutdown}/**',
      ],
      // Its packages are in a folder with its own lock file.
      ignore: ['databases/**'],
      // For tests that are being written.
      // axe-core is put into a page as text, the OTLP exporters are imported by a name from a table, and the loader hooks by
      // a program that a check writes.
      ignoreDependencies: [
        'fast-check',
        'supertest',
        '@types/supertest',
        'axe-core',
        'import-in-the-middle',
        'require-in-the-middle',
        /^@opentelemetry\/exporter-metrics-otlp-/,
      ],
    },
  },
}

export default config
