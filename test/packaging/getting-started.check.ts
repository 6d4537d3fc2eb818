import { afterEach, describe, expect, inject, it } from 'vitest'
import { type NewUser, newUser } from './new-user.ts'
import { runtimePrograms } from './runtime-programs.ts'

// A new user: an empty folder, the packed tarballs, and each page followed to the letter.
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
  it('leads from an empty folder to a handled event and a clean end', async () => {
    user = await newUser(inject('registry'), [runtimePrograms()])
    expect(await user.follow(`docs/getting-started/${page}.md`, 'new-user')).toContain(reply)
    await user.prints(/cnv_\w+ was resolved by ai/)
    expect(await user.end()).toBe(0)
  })
})

it('docs/getting-started/testing-your-handlers.md leads from an empty folder to a test that passes', async () => {
  user = await newUser(inject('registry'))
  const printed = await user.follow('docs/getting-started/testing-your-handlers.md', 'testing')
  expect(printed).toMatch(/pass 1\b[\s\S]*fail 0\b/)
})
