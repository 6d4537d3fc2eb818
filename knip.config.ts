import { readdirSync } from 'node:fs'
import type { KnipConfig } from 'knip'
import { workspacePackages } from './test/support/workspace-packages.ts'

const ready = workspacePackages().map(one => one.folder)
const waiting = readdirSync('packages').filter(folder => !ready.includes(folder))
const packageSources = ['src/**/*.ts!', '!src/**/*.test.ts!', '!src/**/*.test-d.ts!']
const packageTests = ['src/**/*.test.ts', 'src/**/*.test-d.ts']

/** Looks for files, exports and dependencies that nothing uses. Also run with `--production`. */
const config: KnipConfig = {
  ignoreExportsUsedInFile: true,
  // Called by name, by scripts and by test/packaging.
  ignoreBinaries: ['turbo'],
  ignoreDependencies: ['@arethetypeswrong/cli', 'publint', '@changesets/cli'],
  // A package without its sources uses nothing yet, and neither do the tests that cross packages.
  ignoreWorkspaces: [...waiting.map(folder => `packages/${folder}`), ...(waiting.length > 0 ? ['test'] : [])],
  workspaces: {
    '.': {
      entry: ['scripts/*.mjs'],
      project: ['scripts/**'],
      ...(waiting.length > 0 && {
        ignoreDependencies: [
          '@arethetypeswrong/cli',
          'publint',
          '@changesets/cli',
          'fast-check',
          'raw-body',
          'rolldown',
          'zod',
        ],
      }),
    },
    'packages/*': { entry: packageTests, project: packageSources },
    'packages/core': {
      // Chosen through the import map of package.json.
      entry: ['src/{node,web}/platform.ts!', ...packageTests],
      project: packageSources,
    },
    'examples/*': { entry: ['src/*.mjs!'], project: ['src/**/*.mjs!'] },
    test: {
      entry: [
        '**/*.test.ts',
        'packaging/*.{check,config}.ts',
        'packaging/pack.ts',
        'support/install-services.ts',
      ],
      project: ['**/*.{ts,mjs}', '!packaging/fixtures/**'],
    },
  },
}

export default config
