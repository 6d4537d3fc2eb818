import { afterAll, afterEach, beforeAll, inject, it } from 'vitest'
import { answersTo } from '../../packages/create-ackhook/src/project/choices.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'
import { createProject, playProject, type Wanted } from './create-project.ts'
import { type NewUser, newUser } from './new-user.ts'

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
  await createProject(user, wanted)
  await playProject(user, redis.url)
})
