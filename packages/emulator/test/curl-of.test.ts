import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { parseSignatureHeader } from '@ackhook/core/spi'
import { sign } from '@ackhook/testing'
import { expect, test } from 'vitest'
import { curlOf } from '../src/lib/curl-of.ts'
import { SECRET } from './set-up.ts'

const OLD = 'a'.repeat(64)
/** A body of every character that a shell can pass and a few longer ones. `@` would make curl read a file. */
const EVERY = `@/etc/passwd${Array.from({ length: 255 }, (_, i) => String.fromCharCode(i + 1)).join('')}\r\n€😀\n\n`

/** Runs the commands in a shell and returns the request that arrives. */
async function received(
  headers: Record<string, string>,
  body: Parameters<typeof curlOf>[0]['body'],
  env: NodeJS.ProcessEnv = { ...process.env, SIGNING_SECRET: SECRET },
): Promise<{ readonly body: Buffer; readonly headers: IncomingHttpHeaders }[]> {
  const got: { readonly body: Buffer; readonly headers: IncomingHttpHeaders }[] = []
  const server = createServer(async (request, response) => {
    got.push({ body: await buffer(request), headers: request.headers })
    response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  // Through standard input, as if pasted: a long body would not fit into an argument.
  const shell = promisify(execFile)('sh', { env })
  shell.child.stdin?.end(`${curlOf({ url: `http://127.0.0.1:${port}/`, headers, body })}\n`)
  await shell.catch(() => {})
  server.close()
  return got
}

test.each([
  ['of every character', EVERY],
  ['with a NUL', 'a\0b'],
  ['of 300 KB', JSON.stringify({ text: "it's €".repeat(50_000) })],
])('a body %s arrives byte for byte', async (_, text) => {
  const [got] = await received({}, { text, base64: null })
  expect(got?.body.equals(Buffer.from(text))).toBe(true)
})

test('bytes that are not text arrive unchanged', async () => {
  const bytes = Buffer.from([0, 255, 39, 10])
  const [got] = await received({}, { text: bytes.toString(), base64: bytes.toString('base64') })
  expect(got?.body).toEqual(bytes)
})

test.each([
  ['1700000000', 'v1', /^\d{10}$/],
  ['1700000000000', 'v1', /^\d{13}$/],
  ['2026-03-01T12:00:00Z', 'v2', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/],
])('the request is signed anew, with t in the form of %s', async (t, scheme, form) => {
  const body = { text: '{"note":"it\'s"}\n', base64: null }
  const [got] = await received({ 'x-sig': `t=${t},${scheme}=${OLD}`, 'x-other': 'a "b" $HOME' }, body)
  const signature = String(got?.headers['x-sig'])
  const parsed = parseSignatureHeader(signature, scheme)
  const timestamp = 'timestamp' in parsed ? parsed.timestamp : ''
  expect(timestamp).toMatch(form)
  expect(signature).toBe(sign(body.text, { secret: SECRET, scheme, timestamp }))
  expect(got?.headers['x-other']).toBe('a "b" $HOME')
})

test('without the secret, the commands send nothing', async () => {
  const env = { ...process.env, SIGNING_SECRET: '' }
  expect(await received({ 'x-sig': `t=1,v1=${OLD}` }, { text: '{}', base64: null }, env)).toEqual([])
})

test('the commands do not contain the secret', () => {
  const headers = { 'x-sig': `t=1,v1=${OLD}` }
  expect(curlOf({ url: 'http://127.0.0.1/', headers, body: { text: '{}', base64: null } })).not.toContain(OLD)
})
