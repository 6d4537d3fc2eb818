import type { Choices } from './choices.ts'
import { DATABASE, hasDatabase } from './database.ts'
import { FRAMEWORKS } from './frameworks.ts'
import { DURABLE_INBOXES } from './inboxes.ts'

/** Facts that the files need besides the choices. */
export interface Facts {
  /** Name of the folder. */
  readonly name: string
  /** Version of our packages. */
  readonly version: string
  /** True if this Node has its own SQLite, which the emulator uses. */
  readonly hasSqlite: boolean
  /** The package manager. */
  readonly agent: string
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

const ADDRESS = 'http://localhost:3000/webhooks'

/** Returns the text of `package.json`. */
export function manifest(choices: Choices, facts: Facts): string {
  const { framework, inbox, language, tests } = choices
  const isTyped = language === 'typescript'
  const database = hasDatabase(choices) ? DATABASE : { packages: [], types: [] }
  const dependencies = [
    ...FRAMEWORKS[framework].packages,
    ...(DURABLE_INBOXES[inbox]?.packages ?? []),
    ...database.packages,
  ]
  const development = [
    'ackhook',
    ...(tests ? ['@ackhook/testing'] : []),
    ...(isTyped ? ['typescript', '@types/node', ...FRAMEWORKS[framework].types, ...database.types] : []),
    ...(facts.hasSqlite ? [] : ['@photostructure/sqlite']),
  ].filter(name => !dependencies.includes(name))
  const fields = {
    name: packageName(facts.name),
    private: true,
    type: 'module',
    engines: { node: '>=20.19' },
    scripts: scripts(choices),
    dependencies: ranges(dependencies, facts),
    devDependencies: ranges(development, facts),
  }
  return `${JSON.stringify(fields, null, 2)}\n`
}

function scripts(choices: Choices): object {
  const isTyped = choices.language === 'typescript'
  // The compiler prints nothing for a second or more.
  const [build, folder] = isTyped ? ['echo Compiling... && tsc && ', 'dist'] : ['', 'src']
  return {
    ...(isTyped && { build: 'tsc' }),
    start: `${build}node --env-file=.env ${folder}/server.js`,
    dev: `${build}node --watch --env-file=.env ${folder}/server.js`,
    ...(hasDatabase(choices) && { schema: `${build}node --env-file=.env ${folder}/schema.js` }),
    ...(choices.tests && { test: `${build}node --test ${folder}/*.test.js` }),
    send: `ackhook send conversation.resolved --to ${ADDRESS} --secrets-file .env`,
    emulator: `ackhook emulator start --to ${ADDRESS} --secrets-file .env`,
  }
}

function ranges(names: readonly string[], { version }: Facts): Readonly<Record<string, string>> {
  return Object.fromEntries(names.toSorted().map(name => [name, RANGES[name] ?? `^${version}`]))
}

/** Derives a valid npm name from any folder name. */
function packageName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replace(/[^a-z0-9._~-]+/g, '-')
    .replace(/^[._-]+|-+$/g, '')
  return name === '' ? 'webhooks' : name
}
