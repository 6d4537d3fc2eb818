import { readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { expect, it } from 'vitest'
import { readmeBlocks } from '../../../../test/support/readme-blocks.ts'
import { ROOT, workspacePackages } from '../../../../test/support/workspace-packages.ts'
import { answersTo, type Choices } from './choices.ts'
import { managerOf } from './manager.ts'
import { type Facts, RANGES } from './manifest.ts'
import { projectFiles } from './project-files.ts'

const FACTS: Facts = {
  name: 'Our Webhooks!',
  version: '1.2.3',
  node: '24.21.0',
  sqlite: '3.53.4',
  runsTypeScript: true,
  manager: managerOf('npm/11.0.0'),
  secret: 'whsec_of_this_project_alone',
}
/** A Node without SQLite, which runs no TypeScript. */
const OLD = { node: '20.19.0', sqlite: undefined, runsTypeScript: false }
const ALL: readonly Choices[] = answersTo('framework').flatMap(framework =>
  answersTo('inbox').flatMap(inbox =>
    answersTo('database').flatMap(database =>
      answersTo('language').flatMap(language =>
        [true, false].map(tests => ({ framework, inbox, database, language, tests })),
      ),
    ),
  ),
)

function manifestOf(choices: Choices, facts: Partial<Facts> = {}) {
  return JSON.parse(projectFiles(choices, { ...FACTS, ...facts })['package.json'] ?? '')
}

it.each(answersTo('framework'))('the %s app has the code of its documentation page', framework => {
  const page = `docs/getting-started/${framework}.md`
  const block = readmeBlocks(page, 'new-user').find(one => one.flags['file'] === 'server.mjs')
  const documented = statements(block?.text ?? '')
  for (const language of answersTo('language')) {
    const files = projectFiles(
      { framework, inbox: 'memory', database: 'none', language, tests: false },
      FACTS,
    )
    const extension = language === 'typescript' ? 'ts' : 'js'
    const written = statements(`${files[`src/app.${extension}`]}${files[`src/server.${extension}`]}`)
    expect(documented.length).toBeGreaterThan(8)
    expect(documented.filter(line => !written.includes(line))).toEqual([])
  }
})

/** As written by `create-ackhook`, whose port is a variable. */
const LISTENING = '`Listening on http://localhost:$' + '{port}/webhooks`'

/** Returns lines without comments. A page has a fixed port and may show arguments that its handler does not use. */
function statements(code: string): readonly string[] {
  return code
    .split('\n')
    .map(line => line.replace(/ \/\/ .*/, '').trim())
    .filter(line => line !== '')
    .map(line => line.replace('async (event, { attempt, signal }) =>', 'async event =>'))
    .map(line => line.replace(', strict: true', ''))
    .map(line => line.replace("'Listening on http://localhost:3000/webhooks'", LISTENING))
    .map(line =>
      line
        .replace('port: 3000', line.includes('app.listen') ? 'port, host' : 'port')
        .replace('(3000)', '(port)'),
    )
}

it('every combination declares the packages that its code imports and its scripts run, and no others', () => {
  expect(ALL).toHaveLength(72)
  for (const choices of ALL) {
    const files = projectFiles(choices, FACTS)
    const code = Object.entries(files).filter(([name]) => name.startsWith('src/'))
    const imported = code.flatMap(([, text]) =>
      [...text.matchAll(/from '((?:@[\w-]+\/)?[\w-]+)(?:\/[\w-]+)?'/g)].map(([, name = '']) => name),
    )
    const { dependencies, devDependencies, scripts } = manifestOf(choices)
    const declared = Object.keys({ ...dependencies, ...devDependencies })
    expect(declared).toEqual(expect.arrayContaining(imported))
    // Packages that a script runs, types need, or a driver loads by name.
    const others = /^(ackhook|typescript|@types\/\w+|@photostructure\/sqlite|bullmq|ioredis|@ackhook\/core)$/
    expect(declared.filter(name => !imported.includes(name) && !others.test(name))).toEqual([])
    expect('test' in scripts).toBe(choices.tests)
    const start: string = manifestOf(choices, OLD).scripts.start
    expect(manifestOf(choices, OLD).scripts.dev).toBe(start.replace('node ', 'node --watch '))
    expect('typecheck' in scripts).toBe(choices.language === 'typescript')
    expect(code.map(([, text]) => text).join('')).not.toMatch(/undefined|\n\n\n|[ \t]\n/)
  }
})

it('asks for the versions that this repository is tested with', () => {
  const root = projectManifest('package.json')
  const tested = [root, ...workspacePackages().map(one => one.manifest)].flatMap(one =>
    Object.entries({ ...(one['devDependencies'] as object), ...(one['dependencies'] as object) }),
  )
  for (const range of Object.entries(RANGES)) expect(tested).toContainEqual(range)
})

function projectManifest(file: string): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(`${ROOT}${file}`, 'utf8'))
}

it('gives our packages its own version, and the project a valid npm name', () => {
  const choices: Choices = {
    framework: 'hono',
    inbox: 'memory',
    database: 'none',
    language: 'javascript',
    tests: true,
  }
  expect(manifestOf(choices)).toMatchObject({
    name: 'our-webhooks',
    dependencies: { '@ackhook/core': '^1.2.3', '@ackhook/hono': '^1.2.3' },
    devDependencies: { ackhook: '^1.2.3', '@ackhook/testing': '^1.2.3' },
  })
  expect(['日本', '.x', 'A', '@a/b'].map(name => manifestOf(choices, { name }).name)).toEqual([
    'webhooks',
    'x',
    'a',
    'a-b',
  ])
})

it.each([
  // Refused by npm, or taken by Node or by what the project installs.
  ...[
    ['node_modules', 'node_modules-app'],
    ['favicon.ico', 'favicon.ico-app'],
    ['http', 'http-app'],
  ],
  ...[
    ['Stream', 'stream-app'],
    ['hono', 'hono-app'],
    ['ackhook', 'ackhook-app'],
    ['constants', 'constants-app'],
  ],
  // Characters.
  ...[
    ['_private', 'private'],
    ['.env', 'env'],
    ['---', 'webhooks'],
    ['Caf\u00e9', 'cafe'],
    ['a~b!(c)', 'a-b-c'],
  ],
  ...[
    ['@scope/name', 'scope-name'],
    ['a b  c', 'a-b-c'],
    ['...', 'webhooks'],
    ['\ufb01les', 'files'],
  ],
  ...[
    ['%41', '41'],
    ['a.', 'a'],
    ['\u0130stanbul', 'istanbul'],
    ['node:fs', 'node-fs'],
    ['..node_modules', 'node_modules-app'],
  ],
  // Lengths.
  ...[
    ['a'.repeat(215), 'a'.repeat(214)],
    [`${'a'.repeat(213)}-b`, 'a'.repeat(213)],
    ['x'.repeat(5000), 'x'.repeat(214)],
  ],
])('a folder named %s makes a package with a valid name', (folder, name) => {
  const made: string = manifestOf(MEMORY, { name: folder ?? '' }).name
  expect(made).toBe(name)
  // What npm requires of a new package.
  expect(made).toMatch(/^(?![._-])[a-z0-9._-]{1,214}$/)
  expect([...builtinModules, 'node_modules', 'favicon.ico']).not.toContain(made)
})

const MEMORY: Choices = {
  ...{ framework: 'hono', inbox: 'memory', database: 'none', language: 'javascript', tests: true },
}
const SQLITE: Choices = { ...MEMORY, inbox: 'sqlite' }
const DRIVER = '@photostructure/sqlite'

it('adds the driver that the emulator needs on a Node without its own SQLite', () => {
  expect(manifestOf(MEMORY).devDependencies).not.toHaveProperty(DRIVER)
  expect(manifestOf(MEMORY, OLD).devDependencies).toHaveProperty(DRIVER)
})

it('adds the driver that the inbox needs, unless the SQLite of this Node is new enough', () => {
  expect(manifestOf(SQLITE)).toMatchObject({ engines: { node: '>=24.21.0' } })
  expect(manifestOf(SQLITE).dependencies).not.toHaveProperty(DRIVER)
  for (const sqlite of [undefined, '3.50.4', '3.51.2']) {
    const { dependencies, devDependencies, engines } = manifestOf(SQLITE, { ...OLD, sqlite })
    expect(dependencies).toHaveProperty(DRIVER)
    expect(devDependencies).not.toHaveProperty(DRIVER)
    expect(engines).toEqual({ node: '>=20.19' })
  }
})

it('restarts TypeScript itself on a Node that runs it', () => {
  const typed: Choices = { ...MEMORY, language: 'typescript' }
  expect(manifestOf(typed)).toMatchObject({
    engines: { node: '>=22.18' },
    scripts: { dev: 'node --watch --env-file=.env src/server.ts' },
  })
  expect(manifestOf(typed, OLD)).toMatchObject({ engines: { node: '>=20.19' } })
})

it.each([
  ['npm/11.19.1 node/v24.21.0', 'npm ci', []],
  ['pnpm/12.4.2 npm/? node/v24.21.0', 'pnpm install --frozen-lockfile', ['pnpm-workspace.yaml']],
  ['yarn/1.22.22 npm/? node/v24.21.0', 'yarn install --frozen-lockfile', []],
  ['yarn/4.18.1 npm/? node/v24.21.0', 'yarn install --immutable', ['.yarnrc.yml']],
  ['bun/1.4.5 npm/? node/v24.3.0', 'bun install --frozen-lockfile', []],
  ['other/1.0', 'npm ci', []],
])('%s installs with %s in the image and in CI', (userAgent, install, settings) => {
  const manager = managerOf(userAgent)
  const files = projectFiles({ ...SQLITE, language: 'typescript' }, { ...FACTS, manager })
  expect(Object.keys(files).filter(name => /^(pnpm-|\.yarnrc)/.test(name))).toEqual(settings)
  expect(files['Dockerfile']).toContain(`\nRUN ${install}\n`)
  expect(files['Dockerfile']).toMatch(/USER node\nEXPOSE 3000\nCMD \["node", "dist\/server\.js"\]\n$/)
  const workflow = files['.github/workflows/ci.yml']
  expect(workflow).toContain(`      - run: ${install}\n`)
  expect(workflow).toContain(
    `      - run: ${manager.name} run typecheck\n      - run: ${manager.name} run test\n`,
  )
})

it('gives the secret of this project to .env alone, which no commit and no image contains', () => {
  for (const choices of ALL) {
    const files = projectFiles(choices, FACTS)
    const holders = Object.entries(files).filter(([, text]) => text.includes(FACTS.secret))
    expect(holders.map(([name]) => name)).toEqual(['.env'])
    expect(files['.env']).toContain(`\nSIGNING_SECRET=${FACTS.secret}\n`)
    expect(files['.env.example']).toContain('\nSIGNING_SECRET=\n')
    expect(files['.gitignore']?.split('\n')).toEqual(expect.arrayContaining(['.env', '!.env.example']))
    expect(files['.dockerignore']?.split('\n')).toContain('.env*')
  }
})

it('writes no CI for an app with nothing to check', () => {
  expect(projectFiles({ ...MEMORY, tests: false }, FACTS)).not.toHaveProperty(['.github/workflows/ci.yml'])
})
