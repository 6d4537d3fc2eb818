import { afterAll, afterEach, beforeAll, inject, it } from 'vitest'
import { answersTo } from '../../packages/create-ackhook/src/project/choices.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'
import { createProject, playImage, playProject, type Wanted } from './create-project.ts'
import { type NewUser, newUser } from './new-user.ts'
import { runtimePrograms } from './runtime-programs.ts'

let redis: RedisServer
let user: NewUser
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
afterEach(() => user.leave())

const combinations: readonly Wanted[] = answersTo('framework').flatMap(framework =>
  answersTo('inbox').flatMap(inbox =>
    answersTo('language').flatMap(language =>
      [true, false].flatMap(tests =>
        answersTo('database')
          // Its code depends on the inbox only in the options of the receiver.
          .filter(database => database === 'none' || (tests && inbox !== 'sqlite'))
          .map(database => ({ framework, inbox, database, language, tests })),
      ),
    ),
  ),
)

it.each(combinations)('$framework with $inbox and $database in $language, tests: $tests', async wanted => {
  user = await newUser(inject('registry'))
  await playProject(user, await createProject(user, wanted), redis.url)
})

const elsewhere = ['pnpm', 'yarn', 'bun'].flatMap(manager =>
  answersTo('inbox').map(inbox => ({ manager, inbox })),
)

it.each(elsewhere)('$manager create ackhook, with $inbox, and its image', async ({ manager, inbox }) => {
  user = await newUser(inject('registry'), [runtimePrograms()])
  const more = { framework: 'fastify', database: 'none', language: 'typescript', tests: true }
  const steps = await createProject(user, { manager, inbox, ...more })
  await playProject(user, steps, redis.url)
  // The image needs its Redis beside it.
  if (inbox !== 'bullmq') await playImage(user, steps)
})
