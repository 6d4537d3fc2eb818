import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { rolldown } from 'rolldown'
import { expect, inject, it } from 'vitest'
import { ROOT } from '../support/workspace-packages.ts'
import { newUser } from './new-user.ts'

it('refuses to start in a page, bundled for browsers', async () => {
  const bundle = await rolldown({ input: `${ROOT}packages/client/dist/index.js`, platform: 'browser' })
  const { output } = await bundle.generate({ format: 'iife', name: 'ackhook' })
  const page = createContext({ URL })
  runInContext('globalThis.window = globalThis', page)
  runInContext(output[0].code, page)
  const start = () =>
    runInContext("new ackhook.Client({ apiKey: 'k', baseUrl: 'https://api.example' })", page)
  expect(start).toThrow('is for servers')
})

const TEST = `
import { Client } from '@ackhook/client'
import { expect, test } from 'vitest'

test('sends from jsdom', async () => {
  expect(typeof window).toBe('object')
  const { messages } = new Client({ apiKey: 'k', baseUrl: process.env.API_URL })
  const { signal } = new AbortController()
  const { status } = await messages.send({ channel: 'whatsapp', to: '+49151', template: 'x' }, { signal })
  expect(status).toBe(202)
})
`

it("works in jsdom under Node, where an app's tests may run", async () => {
  const server = createServer((request, response) =>
    request.resume().on('end', () => response.writeHead(202).end()),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const user = await newUser(inject('registry'))
  try {
    writeFileSync(join(user.folder, 'package.json'), '{ "type": "module", "private": true }')
    writeFileSync(join(user.folder, 'client.test.js'), TEST)
    await user.run('npm install --save-dev @ackhook/client vitest@4 jsdom@26')
    const { port } = server.address() as AddressInfo
    const env = `API_URL=http://127.0.0.1:${port} NO_COLOR=1`
    expect(await user.run(`${env} npx vitest run --environment jsdom`)).toMatch(/Tests +1 passed/)
  } finally {
    user.leave()
    server.close()
  }
})
