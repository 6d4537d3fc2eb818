import { afterEach, expect, inject, it } from 'vitest'
import { type NewUser, newUser } from './new-user.ts'

let user: NewUser | undefined
afterEach(() => {
  user?.leave()
  user = undefined
})

it.each([
  ['docs/getting-started/express.md', 'new-user'],
  ['packages/cli/README.md', 'first-hour'],
])('%s guides a new user from an empty folder to a handled event', async (page, name) => {
  user = await newUser(inject('registry'))
  const shown = await user.follow(page, name)
  expect(shown).toMatch(/202 accepted[\s\S]*1 event sent, 1 acknowledged[\s\S]*200 duplicate/)
  await user.prints(/cnv_\w+ was resolved by ai[\s\S]*cnv_\w+ was resolved by ai/)
  expect(user.printed().match(/was resolved by ai/g)).toHaveLength(2)
  await user.end()
})
