import { builtinModules } from 'node:module'
import type { Choices } from './choices.ts'
import { DATABASE, hasDatabase } from './database.ts'
import { FRAMEWORKS } from './frameworks.ts'
import { DURABLE_INBOXES } from './inboxes.ts'
import { type Manager, SCRIPTS } from './manager.ts'

/** Facts that the files need besides the choices. */
export interface Facts {
  /** Name of the folder. */
  readonly name: string
  /** Version of our packages. */
  readonly version: string
  /** Version of this Node. */
  readonly node: string
  /** Version of this Node's own SQLite, if it has one. The emulator uses any. */
  readonly sqlite: string | undefined
  /** True if this Node runs TypeScript. */
  readonly runsTypeScript: boolean
  readonly manager: Manager
  /** Secret of this project alone. */
  readonly secret: string
}

/** Versions of third-party packages. A test compares them with the versions that this repository is tested with. */
export const RANGES: Readonly<Record<string, string>> = {
  '@electric-sql/pglite': '^0.5.17',
  '@hono/node-server': '^2.1.8',
  '@photostructure/sqlite': '^1.2.1',
  '@types/express': '^5.0.0',
  '@types/node': '^20.19.43',
  '@types/pg': '^8.23.1',
  bullmq: '~6.7.0',
  'drizzle-orm': '^0.45.4',
  express: '^5.3.0',
  fastify: '^5.12.8',
  hono: '^4.13.19',
  ioredis: '^6.0.0',
  pg: '^8.23.1',
  typescript: '^7.0.2',
}

/** SQLite for a Node without its own, or with an old one. */
const DRIVER = '@photostructure/sqlite'
const ADDRESS = 'http://localhost:3000/webhooks'

/** Returns the text of `package.json`. */
export function manifest(choices: Choices, facts: Facts): string {
  const { framework, inbox, language, tests } = choices
  const isTyped = language === 'typescript'
  const database = hasDatabase(choices) ? DATABASE : { packages: [], types: [] }
  const dependencies = [
    ...FRAMEWORKS[framework].packages,
    ...(DURABLE_INBOXES[inbox]?.packages ?? []),
    ...(inbox === 'sqlite' && !hasOwnDriver(facts) ? [DRIVER] : []),
    ...database.packages,
  ]
  const development = [
    'ackhook',
    ...(tests ? ['@ackhook/testing'] : []),
    ...(isTyped ? ['typescript', '@types/node', ...FRAMEWORKS[framework].types, ...database.types] : []),
    ...(facts.sqlite === undefined ? [DRIVER] : []),
  ].filter(name => !dependencies.includes(name))
  const fields = {
    name: packageName(facts.name, [...dependencies, ...development]),
    private: true,
    type: 'module',
    engines: { node: `>=${oldestNode(choices, facts)}` },
    scripts: scripts(choices, facts),
    dependencies: ranges(dependencies, facts),
    devDependencies: ranges(development, facts),
    ...(facts.manager.name === 'npm' && { allowScripts: SCRIPTS }),
  }
  return `${JSON.stringify(fields, null, 2)}\n`
}

/** Returns whether this Node's SQLite is new enough for the inbox: older ones can damage a file with several writers. */
function hasOwnDriver({ sqlite = '0' }: Facts): boolean {
  const [major = 0, minor = 0, patch = 0] = sqlite.split('.').map(Number)
  return major * 1e6 + minor * 1e3 + patch >= 3_051_003
}

/** Returns the oldest Node on which everything in the project runs. */
function oldestNode({ inbox, language }: Choices, facts: Facts): string {
  if (inbox === 'sqlite' && hasOwnDriver(facts)) return facts.node
  return language === 'typescript' && facts.runsTypeScript ? '22.18' : '20.19'
}

function scripts(choices: Choices, { runsTypeScript }: Facts): object {
  const isTyped = choices.language === 'typescript'
  // The compiler prints nothing for a second or more.
  const [build, folder] = isTyped ? ['echo Compiling... && tsc && ', 'dist'] : ['', 'src']
  return {
    ...(isTyped && { build: 'tsc', typecheck: 'tsc --noEmit' }),
    start: `${build}node --env-file=.env ${folder}/server.js`,
    dev:
      isTyped && runsTypeScript
        ? 'node --watch --env-file=.env src/server.ts'
        : `${build}node --watch --env-file=.env ${folder}/server.js`,
    ...(hasDatabase(choices) && { schema: `${build}node --env-file=.env ${folder}/schema.js` }),
    ...(choices.tests && { test: `${build}node --test ${folder}/*.test.js` }),
    send: `ackhook send conversation.resolved --to ${ADDRESS} --secrets-file .env`,
    emulator: `ackhook emulator start --to ${ADDRESS} --secrets-file .env`,
  }
}

function ranges(names: readonly string[], { version }: Facts): Readonly<Record<string, string>> {
  return Object.fromEntries(names.toSorted().map(name => [name, RANGES[name] ?? `^${version}`]))
}

/** Names that npm refuses for a package, besides those of Node's own modules. */
const REFUSED_NAMES: readonly string[] = ['node_modules', 'favicon.ico']
const LONGEST_NAME = 214

/** Derives a valid npm name from any folder name. `packages`: those that the project installs, whose names are taken. */
function packageName(folder: string, packages: readonly string[]): string {
  const name = folder
    // An accent becomes a character of its own.
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+/, '')
    .slice(0, LONGEST_NAME)
    .replace(/[.-]+$/, '')
  if (name === '') return 'webhooks'
  const isTaken = [...REFUSED_NAMES, ...builtinModules, ...packages].includes(name)
  return isTaken ? `${name}-app` : name
}
