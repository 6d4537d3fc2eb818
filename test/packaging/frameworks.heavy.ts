import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, inject, it } from 'vitest'
import { type NewUser, newUser } from './new-user.ts'

const MORE = 'docs/getting-started/other-frameworks.md'
const SERVE = 'export SIGNING_SECRET=only-for-trying-it-out\nnode server.mjs'
const SEND = `export SIGNING_SECRET=only-for-trying-it-out
npx ackhook send conversation.resolved --to http://localhost:3000/webhooks`
let user: NewUser | undefined
afterEach(() => user?.leave())

// Starts from an empty folder, with the packed tarballs and the newest version of each framework: `npm run test:framework-pages`.
it.each(['koa', 'h3', 'elysia', 'express4'])('the section about %s ends with a handled event', async name => {
  user = await newUser(inject('registry'))
  await user.follow(MORE, name)
  await user.start(SERVE)
  expect(await user.run(SEND)).toContain('202 accepted')
  await user.prints(/evt_\w+ was resolved/)
})

it('the page about NestJS ends with a handled event and a clean exit', async () => {
  user = await newUser(inject('registry'))
  expect(await user.follow('docs/getting-started/nestjs.md', 'nestjs')).toContain('202 accepted')
  await user.prints(/cnv_\w+ was resolved by ai/)
  // Nest ends the process with the signal, once all hooks have run.
  expect([0, null]).toContain(await user.end())
  await user.follow('docs/getting-started/nestjs.md', 'nestjs-tests')
  // The tests that the project came with.
  await user.run('npm test')
})

it("the section about Azure handles a request of Azure's own package", async () => {
  user = await newUser(inject('registry'))
  await user.follow(MORE, 'azure')
  await user.run('npm install @ackhook/testing')
  writeFileSync(
    join(user.folder, 'try.mjs'),
    `import { createEvent, signedRequest } from '@ackhook/testing'
import azure from '@azure/functions'
import { handler } from './webhooks.mjs'

const { method, headers, body } = signedRequest(createEvent('conversation.resolved'), {
  secret: process.env.SIGNING_SECRET,
})
const bytes = { bytes: body }
const request = new azure.HttpRequest({ method, url: 'http://localhost/webhooks', headers, body: bytes })
const reply = await handler(request, {})
console.log(reply.status, reply.body)
`,
  )
  const printed = await user.run('SIGNING_SECRET=only-for-trying-it-out node try.mjs')
  expect(printed).toMatch(/evt_\w+ was resolved[\s\S]*200 .*processed/)
})
