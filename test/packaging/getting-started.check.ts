import { afterEach, describe, expect, inject, it } from 'vitest'
import { type NewUser, newUser } from './new-user.ts'
import { runtimePrograms } from './runtime-programs.ts'

// Plays a new user with an empty folder and the packed tarballs, who follows each page to the letter.
let user: NewUser | undefined
afterEach(() => {
  user?.leave()
  user = undefined
})

describe.each([
  { page: 'express', reply: '202 accepted' },
  { page: 'typescript', reply: '202 accepted' },
  { page: 'fastify', reply: '202 accepted' },
  { page: 'hono', reply: '202 accepted' },
  { page: 'node-http', reply: '202 accepted' },
  { page: 'bun', reply: '202 accepted' },
  { page: 'deno', reply: '202 accepted' },
])('docs/getting-started/$page.md', ({ page, reply }) => {
  it('goes from an empty folder to a handled event and a clean exit', async () => {
    user = await newUser(inject('registry'), [runtimePrograms()])
    expect(await user.follow(`docs/getting-started/${page}.md`, 'new-user')).toContain(reply)
    await user.prints(/cnv_\w+ was resolved by ai/)
    expect(await user.end()).toBe(0)
  })
})

it('docs/getting-started/testing-your-handlers.md goes from an empty folder to a passing test', async () => {
  user = await newUser(inject('registry'))
  const printed = await user.follow('docs/getting-started/testing-your-handlers.md', 'testing')
  expect(printed).toMatch(/pass 1\b[\s\S]*fail 0\b/)
})
