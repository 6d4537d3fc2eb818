import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { parseSignatureHeader } from '@ackhook/core/spi'
import { sign } from '@ackhook/testing'
import { describe, expect, test } from 'vitest'
import { requireProgram } from '../../../test/support/require-program.ts'
import { curlOf } from '../src/lib/curl-of.ts'
import { SECRET } from './set-up.ts'

const OLD = 'a'.repeat(64)
/** A body of every character that a shell can pass and a few longer ones. `@` would make curl read a file. */
const EVERY = `@/etc/passwd${Array.from({ length: 255 }, (_, i) => String.fromCharCode(i + 1)).join('')}\r\n€😀\n\n`

/** Shells of the people who paste a command, from a file and interactively, where history and comments count. */
const SHELLS = {
  sh: ['sh'],
  bash: ['bash'],
  dash: ['dash'],
  zsh: ['zsh', '-f'],
  'interactive bash': ['bash', '--norc', '-i'],
  'interactive zsh': ['zsh', '-f', '-i'],
} as const
type Shell = keyof typeof SHELLS

/** Runs the commands in a shell and returns the requests that arrive. */
async function received(
  shell: Shell,
  request: Partial<Parameters<typeof curlOf>[0]>,
  env: NodeJS.ProcessEnv = { ...process.env, SIGNING_SECRET: SECRET },
): Promise<{ readonly url: string; readonly body: Buffer; readonly headers: IncomingHttpHeaders }[]> {
  const got: Awaited<ReturnType<typeof received>> = []
  const server = createServer(async (request, response) => {
    got.push({ url: request.url ?? '', body: await buffer(request), headers: request.headers })
    response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { url = '/', headers = {}, body = text('{}') } = request
  const [program, ...flags] = SHELLS[shell]
  // Through standard input, as if pasted: a long body would not fit into an argument.
  const running = promisify(execFile)(program === 'zsh' ? requireProgram('zsh') : program, flags, { env })
  running.child.stdin?.end(`${curlOf({ url: `http://127.0.0.1:${port}${url}`, headers, body })}\n`)
  await running.catch(() => {})
  server.close()
  return got
}

const text = (text: string) => ({ text, base64: null })

describe.each(Object.keys(SHELLS) as Shell[])('in %s', shell => {
  test.each([
    ['of every character', EVERY],
    ['with a NUL', 'a\0b'],
    ['of 300 KB', JSON.stringify({ text: "it's €".repeat(50_000) })],
    ['with what shells expand', '~ =ls {a,b} `id` $(id) $HOME \\ !! !x #c\n!!\n!x:s/a/b\n'],
    ['in several lines', '{\n  "note": "it\'s"\n}\n'],
    ['with tabs, which complete', '{\n\t"a": 1\n}'],
    ['of none', ''],
    ['with what only looks like text', "a\u2028\u202e\u0085é'\u001b[31m"],
  ])('a body %s arrives byte for byte', async (_, body) => {
    const [got] = await received(shell, { body: text(body) })
    expect(got?.body.equals(Buffer.from(body))).toBe(true)
  })

  test('bytes that are not text arrive unchanged', async () => {
    const bytes = Buffer.from([0, 255, 39, 10])
    const [got] = await received(shell, {
      body: { text: bytes.toString(), base64: bytes.toString('base64') },
    })
    expect(got?.body).toEqual(bytes)
  })

  test.each([
    ['1700000000', 'v1', /^\d{10}$/],
    ['1700000000000', 'v1', /^\d{13}$/],
    ['2026-03-01T12:00:00Z', 'v2', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/],
  ])('the request is signed anew, with t in the form of %s', async (t, scheme, form) => {
    const body = text('{"note":"it\'s"}\n')
    const [got] = await received(shell, { headers: { 'x-sig': `t=${t},${scheme}=${OLD}` }, body })
    const signature = String(got?.headers['x-sig'])
    const parsed = parseSignatureHeader(signature, scheme)
    const timestamp = 'timestamp' in parsed ? parsed.timestamp : ''
    expect(timestamp).toMatch(form)
    expect(signature).toBe(sign(body.text, { secret: SECRET, scheme, timestamp }))
  })

  test('headers and the address arrive as they were, whatever a shell or curl reads in them', async () => {
    const url = "/hook/{a,b}/[1-3]?q='x'&$HOME=`id`"
    const headers = { 'x-other': 'a "b" $HOME !! @file', 'x-empty': '', '`x`$y!': "it's" }
    const [got, ...others] = await received(shell, { url, headers })
    expect(got).toMatchObject({ url, headers })
    expect(got?.headers['content-type']).toBeUndefined()
    expect(others).toEqual([])
  })

  test('the name of the signature header runs no command', async () => {
    const [got] = await received(shell, { headers: { '`id`$x!y': `t=1,v1=${OLD}` } })
    expect(got?.headers['`id`$x!y']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/)
  })

  test('without the secret, the commands send nothing', async () => {
    const env = { ...process.env, SIGNING_SECRET: '' }
    expect(await received(shell, { headers: { 'x-sig': `t=1,v1=${OLD}` } }, env)).toEqual([])
  })
})

test('the commands do not contain the secret', () => {
  const headers = { 'x-sig': `t=1,v1=${OLD}` }
  expect(curlOf({ url: 'http://127.0.0.1/', headers, body: text('{}') })).not.toContain(OLD)
})
