import { afterEach, describe, expect, inject, it } from 'vitest'
import { inFull } from '../support/in-full.ts'
import { type NewUser, newUser } from './new-user.ts'
import { runtimePrograms } from './runtime-programs.ts'

// Plays a new user with an empty folder and the packed tarballs, who follows each page to the letter.
let user: NewUser | undefined
afterEach(() => {
  user?.leave()
  user = undefined
})

const pages = ['express', 'typescript', 'fastify', 'hono', 'node-http', 'bun', 'deno']
describe.each(inFull(pages, ['express', 'fastify', 'deno']))('docs/getting-started/%s.md', page => {
  it('goes from an empty folder to a handled event and a clean exit', async () => {
    user = await newUser(inject('registry'), [runtimePrograms()])
    expect(await user.follow(`docs/getting-started/${page}.md`, 'new-user')).toContain('202 accepted')
    await user.prints(/cnv_\w+ was resolved by ai/)
    expect(await user.end()).toBe(0)
  })
})

it('docs/getting-started/testing-your-handlers.md goes from an empty folder to a passing test', async () => {
  user = await newUser(inject('registry'))
  const printed = await user.follow('docs/getting-started/testing-your-handlers.md', 'testing')
  expect(printed).toMatch(/pass 1\b[\s\S]*fail 0\b/)
})
