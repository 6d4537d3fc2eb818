import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { readmeBlocks } from '../../../../test/support/readme-blocks.ts'
import { ROOT, workspacePackages } from '../../../../test/support/workspace-packages.ts'
import { answersTo, type Choices } from './choices.ts'
import { RANGES } from './manifest.ts'
import { projectFiles } from './project-files.ts'

const FACTS = { name: 'Our Webhooks!', version: '1.2.3', hasSqlite: true, agent: 'npm' }
const ALL: readonly Choices[] = answersTo('framework').flatMap(framework =>
  answersTo('inbox').flatMap(inbox =>
    answersTo('database').flatMap(database =>
      answersTo('language').flatMap(language =>
        [true, false].map(tests => ({ framework, inbox, database, language, tests })),
      ),
    ),
  ),
)

function manifestOf(choices: Choices, facts: Partial<typeof FACTS> = {}) {
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
    .map(line => line.replace('port: 3000', 'port').replace('(3000)', '(port)'))
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
    expect(scripts['dev']).toBe(scripts['start']?.replace('node ', 'node --watch '))
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

it('adds the driver that the emulator needs on a Node without its own SQLite', () => {
  const choices: Choices = {
    framework: 'hono',
    inbox: 'memory',
    database: 'none',
    language: 'javascript',
    tests: true,
  }
  expect(manifestOf(choices).devDependencies).not.toHaveProperty('@photostructure/sqlite')
  expect(manifestOf(choices, { hasSqlite: false }).devDependencies).toHaveProperty('@photostructure/sqlite')
  const { dependencies, devDependencies } = manifestOf({ ...choices, inbox: 'sqlite' }, { hasSqlite: false })
  expect(dependencies).toHaveProperty('@photostructure/sqlite')
  expect(devDependencies).not.toHaveProperty('@photostructure/sqlite')
})
