import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { signedRequest } from '../requests/signed-request.ts'
import { exchange } from './exchange.ts'

const leftovers: (() => unknown)[] = []
afterEach(() => {
  for (const stop of leftovers.splice(0)) stop()
})

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  leftovers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`
}

const request = signedRequest('{}', { secret: 'whsec_0123456789abcdef' })
const limits = { timeoutMs: 5000, maxBodyBytes: 10, signal: new AbortController().signal }

test('a reply is read only up to the limit', async () => {
  const url = await serve((_, response) => {
    response.writeHead(200, { 'X-Long': 'yes' })
    const more = () => response.write('x'.repeat(65_536)) && setImmediate(more)
    response.on('drain', more)
    more()
  })
  const reply = await exchange(url, request, limits)
  expect(reply).toMatchObject({ status: 200, truncated: true })
  expect(reply).toHaveProperty('body.length', 10)
  expect('headers' in reply && reply.headers).toContainEqual(['X-Long', 'yes'])
})

test('a reply that never ends counts as none at the time limit', async () => {
  const url = await serve((_, response) => {
    response.writeHead(200).write('a')
  })
  expect(await exchange(url, request, { ...limits, timeoutMs: 50 })).toMatchObject({
    error: 'no reply within 50 ms',
  })
})

test('no connection is made to a host that the lookup refuses', async () => {
  const reply = await exchange('http://example.test/', request, {
    ...limits,
    lookup: (_, __, answer) => answer(new Error('not this one'), ''),
  })
  expect(reply).toMatchObject({ error: 'not this one' })
})

test('an address with a password is refused and not repeated', async () => {
  expect(await exchange('http://me:hidden@localhost/', request, limits)).toMatchObject({
    error: 'the address must not contain a user name or password',
  })
})
