import { afterEach, expect, inject, it } from 'vitest'
import { inFull } from '../support/in-full.ts'
import { createProject, playImage, playProject } from './create-project.ts'
import { type NewUser, newUser } from './new-user.ts'
import { runtimePrograms } from './runtime-programs.ts'

let user: NewUser
afterEach(() => user.leave())

// Each framework once by default. `npm run test:create` tries all combinations, with a Redis.
const apps = [
  { framework: 'express', inbox: 'memory', database: 'postgres', language: 'typescript', tests: true },
  { framework: 'fastify', inbox: 'bullmq', database: 'none', language: 'javascript', tests: true },
  { framework: 'hono', inbox: 'sqlite', database: 'none', language: 'typescript', tests: false },
]
it.each(inFull(apps, apps.slice(0, 1)))(
  'npm create ackhook creates an app on $framework with $inbox and $database in $language',
  async wanted => {
    user = await newUser(inject('registry'))
    const steps = await createProject(user, wanted)
    if (wanted.inbox !== 'bullmq') await playProject(user, steps)
  },
)

const managers = [
  { manager: 'npm', framework: 'hono', inbox: 'memory' },
  { manager: 'pnpm', framework: 'fastify', inbox: 'sqlite' },
  { manager: 'yarn', framework: 'express', inbox: 'sqlite' },
]
it.each(inFull(managers, managers.slice(0, 2)))(
  'the steps that $manager create ackhook prints, and its image, end with a handled event',
  async wanted => {
    user = await newUser(inject('registry'), [runtimePrograms()])
    const more = { database: 'none', language: 'typescript', tests: true }
    const steps = await createProject(user, { ...wanted, ...more })
    await playProject(user, steps)
    await playImage(user, steps)
  },
)

it('installs seven packages without install scripts, and refuses a folder that has files', async () => {
  user = await newUser(inject('registry'))
  const installed = JSON.parse(await user.run('npm install --json create-ackhook'))
  expect(installed.added).toBe(7)
  expect(await user.run('npx create-ackhook . --yes 2>&1 || echo ended with $?')).toBe(
    'Error: . is not empty (node_modules, package-lock.json, package.json): choose another folder\nended with 2\n',
  )
})
