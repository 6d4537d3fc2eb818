import { afterEach, beforeEach, expect, inject, it } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { type NewUser, newUser } from './new-user.ts'

let user: NewUser
beforeEach(async () => {
  user = await newUser(inject('registry'))
})
afterEach(() => user.leave())

it('runs the platform from an empty folder, with nothing configured and nothing else installed', async () => {
  const port = await freePort()
  // The port of the user's own server, which is what is waited for.
  const start = `npx --yes ackhook emulator start --port 3000 --to http://localhost:${port}/webhooks`
  await user.start(start)
  await user.prints(/^ {2}page +http:\/\/127\.0\.0\.1:\d+$/m)
  expect(user.printed()).toMatch(/export SIGNING_SECRET=whsec_[\w-]{32}\n/)
  const at = 'ACKHOOK_EMULATOR=http://localhost:3000'
  await user.run('curl -fsS http://localhost:3000/_emulator/v1/health')
  expect(await user.run(`${at} npx --yes ackhook emulator send conversation.resolved || true`)).toContain(
    'ECONNREFUSED',
  )
  await user.prints(/ECONNREFUSED, again at /)
  expect(await user.run(`${at} npx --yes ackhook emulator list`)).toMatch(/pending +conversation\.resolved/)
})
