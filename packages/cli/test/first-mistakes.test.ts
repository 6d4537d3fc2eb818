import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createReceiver } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'
import { signedRequest } from '@ackhook/testing'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { selfSigned } from '../../../test/support/self-signed.ts'
import { type ReceivingServer, startReceiver } from './receiving-server.ts'
import { type CliOptions, type CliResult, runCli, SECRET, startCli } from './run-cli.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const SILENT = { info() {}, warn() {}, error() {} }
const servers: Server[] = []
let folder: string
let receiver: ReceivingServer
/** Addresses of apps with one mistake each. */
let apps: Readonly<Record<'gone' | 'selfSigned' | 'silent' | 'plainAsTls' | 'tlsAsPlain' | 'noRoute', string>>

async function listening(server: Server, scheme: string): Promise<string> {
  servers.push(server.listen(0, '127.0.0.1'))
  await new Promise(resolve => server.once('listening', resolve))
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ackhook-mistakes-'))
  receiver = await startReceiver(SECRET)
  const noRoute: RequestListener = (request, response) => {
    request.resume()
    response.writeHead(404).end('Cannot POST /webhooks')
  }
  const gone = await listening(createServer(), 'http')
  await new Promise(resolve => servers.pop()!.close(resolve))
  const app = createReceiver({ secret: SECRET, logger: SILENT })
  app.on('*', () => {})
  const tls = await listening(createTlsServer(selfSigned(), toNodeHandler(app)), 'https')
  apps = {
    gone,
    selfSigned: tls,
    silent: await listening(
      createServer(request => request.resume()),
      'http',
    ),
    plainAsTls: receiver.url.replace('http:', 'https:'),
    tlsAsPlain: tls.replace('https:', 'http:'),
    noRoute: await listening(createServer(noRoute), 'http'),
  }
  const saved = signedRequest('{"id":"evt_1","type":"a.b","created_at":"2026-03-01T12:00:00Z","data":{}}', {
    secret: SECRET,
  })
  await writeFile(join(folder, 'delivery.json'), savedAs(saved.headers, saved.body))
})

afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
  await receiver.close()
  await rm(folder, { recursive: true })
})

const running: { stop(): void; readonly ended: Promise<CliResult> }[] = []
afterEach(async () => {
  for (const cli of running.splice(0)) {
    cli.stop()
    await cli.ended
  }
})

function savedAs(headers: Readonly<Record<string, string>>, body: Uint8Array): string {
  return JSON.stringify({
    receivedAt: new Date().toISOString(),
    headers: Object.entries(headers),
    body: Buffer.from(body).toString('base64'),
  })
}

const REASONS = [
  ['gone', 'ECONNREFUSED', /Nothing listens at this address: start your app first/],
  ['selfSigned', 'DEPTH_ZERO_SELF_SIGNED_CERT', /does not trust the certificate.*add --insecure/],
  ['silent', 'no reply within 300 ms', /did not reply in time.*raise --timeout/],
  ['plainAsTls', /EPROTO|ERR_SSL/, /speaks plain HTTP. Try http:/],
  ['tlsAsPlain', 'ECONNRESET', /port speaks HTTPS: try https:/],
  [
    'noRoute',
    '404',
    /no route for this path or method: check the path of the address, and that the route takes a POST/,
  ],
] as const

const startsWith = (reason: string | RegExp) =>
  typeof reason === 'string' ? expect.stringContaining(reason) : expect.stringMatching(reason)

describe.each(REASONS)('an app that is %s', (name, reason, fix) => {
  // A busy machine may need longer for the others, such as for a TLS handshake.
  const timeout = name === 'silent' ? '300ms' : '20s'

  test('is named with its fix by listen --forward, on the line and as JSON', async () => {
    const args = ['listen', '--port', '0', '--forward', apps[name], '--timeout', timeout, '--count', '1']
    for (const json of [[], ['--json']]) {
      const cli = startCli([...args, ...json], { cwd: folder })
      running.push(cli)
      const url = /http:\/\/[\d.:]+/.exec(await cli.line(/http:/))![0]
      const reply = await fetch(
        url,
        signedRequest('{"id":"evt_1","type":"a.b","created_at":"2026-03-01T12:00:00Z","data":{}}', {
          secret: SECRET,
        }),
      )
      expect(reply.status).toBe(name === 'noRoute' ? 404 : 502)
      const { out } = await cli.ended
      const last = out.trim().split('\n')
      if (json.length === 0) {
        const line = last.find(one => one.includes('forwarded:'))
        expect(line).toEqual(startsWith(reason))
        expect(name === 'noRoute' ? out.replaceAll(/\s+/g, ' ') : line).toMatch(fix)
        continue
      }
      const { forwarded, forwardError, hints } = JSON.parse(last.at(-1)!)
      expect(String(forwardError ?? forwarded)).toEqual(startsWith(reason))
      expect(hints.join(' ')).toMatch(fix)
    }
  })

  test.each(['send', 'replay'])('is named with its fix by %s, in text and as JSON', async verb => {
    const what = verb === 'send' ? ['send', 'conversation.resolved'] : ['replay', 'delivery.json']
    for (const json of [[], ['--json']]) {
      const args = [...what, '--to', apps[name], '--timeout', timeout, ...json]
      const { out, code } = await runCli(args, { cwd: folder })
      expect(out).toEqual(startsWith(reason))
      expect(out).toMatch(fix)
      expect(code).toBe(1)
    }
  })

  test('is named with its fix by the emulator', async () => {
    const emulator = await startEmulator(apps[name], '--timeout', timeout)
    const { out, code } = await runCli(['emulator', 'send', 'a.b', '--at', emulator.url])
    expect(out).toEqual(startsWith(reason))
    expect(out.replace('add --insecure to ackhook emulator start', 'add --insecure')).toMatch(fix)
    expect(code).toBe(1)
    // What `start` itself shows, where most people look first.
    if (name !== 'noRoute') await emulator.cli.complaint(fix)
  })
})

async function startEmulator(to: string, ...more: string[]) {
  const cli = startCli(['emulator', 'start', '--port', '0', '--to', to, ...more], { cwd: folder })
  running.push(cli)
  return { cli, url: /http:\/\/[\w.:]+/.exec(await cli.line(/^ *page/))![0] }
}

test('--insecure accepts a certificate of your own: send, replay, listen --forward and the emulator', async () => {
  const to = ['--to', apps.selfSigned, '--insecure']
  expect((await runCli(['send', 'conversation.resolved', ...to])).out).toContain('202 accepted')
  expect((await runCli(['send', '--from-file', 'delivery.json', ...to], { cwd: folder })).code).toBe(0)
  expect((await runCli(['replay', 'delivery.json', ...to], { cwd: folder })).code).toBe(0)
  const cli = startCli(['listen', '--port', '0', '--forward', apps.selfSigned, '--insecure'])
  running.push(cli)
  const url = /http:\/\/[\d.:]+/.exec(await cli.line(/http:/))![0]
  expect((await runCli(['send', 'conversation.resolved', '--to', url])).out).toContain('202 accepted')
  const emulator = await startEmulator(apps.selfSigned, '--insecure')
  expect((await runCli(['emulator', 'send', 'a.b', '--at', emulator.url])).out).toContain('202 accepted')
})

test("a 5xx is shown with the reply's message: send, replay and the emulator", async () => {
  const failing = await startReceiver(SECRET, { secret: () => Promise.reject(new Error('vault')) })
  const says = /your app says: \S+/
  try {
    const sent = await runCli(['send', 'conversation.resolved', '--to', failing.url])
    expect(sent.out).toMatch(/50\d \w+/)
    expect(sent.out).toMatch(says)
    const json = await runCli(['send', 'conversation.resolved', '--to', failing.url, '--json'])
    expect(JSON.parse(json.out).messages).toEqual([expect.any(String)])
    const replayed = await runCli(['replay', 'delivery.json', '--to', failing.url], { cwd: folder })
    expect(replayed.out).toMatch(says)
    const emulator = await startEmulator(failing.url)
    const emulated = await runCli(['emulator', 'send', 'a.b', '--at', emulator.url])
    expect(emulated.out).toMatch(says)
  } finally {
    await failing.close()
  }
})

const MESSAGE = ['messages', 'send', '--to', '+4915112345678', '--template', 'order_shipped']
const mark = '\uFEFF'
const ENCODINGS: readonly (readonly [string, (text: string) => Uint8Array])[] = [
  ['UTF-8 with a byte order mark', text => Buffer.from(mark + text)],
  ['UTF-16 as Windows writes it', text => Buffer.from(mark + text, 'utf16le')],
  ['UTF-16 with the other byte order', text => Buffer.from(mark + text, 'utf16le').swap16()],
  ['UTF-16 without a mark', text => Buffer.from(text, 'utf16le')],
]

describe.each(ENCODINGS)('a file in %s', (_, encode) => {
  test('is read by every verb that reads one', async () => {
    const write = (name: string, text: string) => writeFile(join(folder, name), encode(text))
    await write('.env', `SIGNING_SECRET=${SECRET}\n`)
    await write('data.json', '{"resolved_by":"agént"}')
    const { headers, body } = signedRequest(
      '{"id":"evt_2","type":"a.b","created_at":"2026-03-01T12:00:00Z","data":{}}',
      { secret: SECRET },
    )
    await write('encoded.json', savedAs(headers, body))
    const secret = ['--secrets-file', '.env']
    const to = ['--to', receiver.url]
    const run = async (...args: string[]) => {
      const { code, out, err } = await runCli(args, { cwd: folder, env: {} })
      expect(out + err).not.toContain('Error')
      expect(code).toBe(0)
      return out
    }
    const sent = await run('send', 'a.b', '--data', 'data.json', '--dry-run', ...secret, ...to)
    expect(sent).toContain('{"resolved_by":"agént"}')
    await run('send', '--from-file', 'encoded.json', ...secret, ...to)
    await run('replay', 'encoded.json', '--resign', ...secret, ...to)
    await run('verify', 'encoded.json', ...secret)
    const emulator = await startEmulator(receiver.url, ...secret)
    const at = ['--at', emulator.url]
    await run('emulator', 'send', 'a.b', '--id', 'evt_raw', '--raw-data', 'data.json', ...at)
    await write('body.json', '{"id":"evt_3","type":"a.b","created_at":"2026-03-01T12:00:00Z","data":{}}')
    await run('emulator', 'replay', 'evt_raw', '--body', 'body.json', ...at)
    await run('emulator', ...MESSAGE, '--variables', 'data.json', ...at)
  })
})

test('a file that is no text is named as such', async () => {
  await writeFile(join(folder, 'latin-1'), Buffer.from('{"name":"Müller"}', 'latin1'))
  const inFolder: CliOptions = { cwd: folder }
  const url = ['--to', receiver.url]
  const data = await runCli(['send', 'a.b', '--data', 'latin-1', ...url], inFolder)
  expect(data).toMatchObject({ code: 2, err: expect.stringContaining('latin-1 is not text in UTF-8') })
  for (const args of [
    ['verify', 'latin-1'],
    ['send', 'a.b', '--secrets-file', 'latin-1', ...url],
  ])
    expect((await runCli(args, inFolder)).err).toContain('is not text in UTF-8: save it as UTF-8')
})

test('- is standard input', async () => {
  const child = spawn(
    process.execPath,
    [
      fileURLToPath(new URL('../dist/main.js', import.meta.url)),
      ...['send', 'a.b', '--dry-run', '--to', receiver.url, '--data', '-'],
    ],
    { env: { SIGNING_SECRET: SECRET }, stdio: ['pipe', 'pipe', 'inherit'] },
  )
  child.stdin.end('{"resolved_by":\n"me"}')
  let out = ''
  for await (const text of child.stdout.setEncoding('utf8')) out += text
  expect(out).toContain('"data":{"resolved_by":"me"}')
})

test('each option that takes text reads - as standard input', async () => {
  const emulator = await startEmulator(receiver.url)
  const at = ['--at', emulator.url]
  const piped = (text: string, ...args: string[]) => runCli(args, { piped: text })
  const sent = await piped(
    '{"a":1.10}',
    'emulator',
    'send',
    'a.b',
    '--id',
    'evt_in',
    '--raw-data',
    '-',
    ...at,
  )
  expect(sent.out).toContain('202 accepted')
  expect((await runCli(['emulator', 'show', 'evt_in', '--body', ...at])).out).toContain('{"a":1.10}')
  const body = '{"id":"evt_4","type":"a.b","created_at":"2026-03-01T12:00:00Z","data":{}}'
  expect((await piped(body, 'emulator', 'replay', 'evt_in', '--body', '-', ...at)).code).toBe(0)
  expect((await piped('{"n":"x"}', 'emulator', ...MESSAGE, '--variables', '-', ...at)).code).toBe(0)
  const saved = (await runCli(['emulator', 'show', 'evt_in', '--save', '-', ...at])).out
  const to = ['--to', receiver.url]
  for (const args of [
    ['send', '--from-file', '-', ...to],
    ['replay', '-', '--resign', ...to],
    ['verify', '-'],
  ])
    expect((await piped(saved, ...args)).out).not.toBe('')
  const rotated = [...at, '--secrets-file', '-']
  const replaced = 'SIGNING_SECRET=another-secret-of-some-length'
  expect((await piped(replaced, 'emulator', 'endpoint', 'rotate-secret', ...rotated)).code).toBe(0)
})

test('a secret comes from standard input, and whatever it lacks is told so', async () => {
  const send = ['send', 'a.b', '--to', receiver.url, '--secrets-file', '-']
  const cli = (piped: string, ...args: string[]) => runCli([...send, ...args], { piped, env: {} })
  expect((await cli(`SIGNING_SECRET=${SECRET}`)).out).toContain('202')
  expect((await cli('OTHER=1')).err).toContain('standard input does not set SIGNING_SECRET')
  const verified = await runCli(['verify', '-'], { piped: 'no JSON' })
  expect(verified.err).toContain('standard input: this is not a saved delivery: it is not JSON')
})

test.each([
  ['inbox', 'list', '--sqlite', '-'],
  ['emulator', 'start', '--data', '-'],
  ['listen', '--save', '-'],
  ['conformance', '--store', '-'],
  ['conformance', '--inbox', '-'],
])('what has to be a file does not take - for one: %s %s %s', async (...args) => {
  const { code, err } = await runCli(args)
  expect(err).toMatch(/cannot be standard input or output/)
  expect(code).toBe(2)
})

test.each([
  ['Windows PowerShell', ['{resolved_by:agent}'], /took the quotes of --data: \{resolved_by:agent\} arrived/],
  ['cmd', ["'{resolved_by:agent}'"], /took the quotes of --data/],
  ['bash, which expands the braces', ['resolved_by:agent', 'channel:sms'], /may have split the JSON/],
  ['bash with one field in braces', ['resolved_by:agent'], /took the quotes of --data/],
])('data whose quotes a shell has taken is told so: %s', async (_, words, problem) => {
  const { code, err } = await runCli(['send', 'a.b', '--to', receiver.url, '--data', ...words])
  expect(err).toMatch(problem)
  expect(err).toContain(`'{"resolved_by":"agent"}' in bash`)
  expect(code).toBe(2)
})

test('JSON with another mistake is not blamed on the shell', async () => {
  for (const data of ['{"resolved_by":agent}', "{'resolved_by':'agent'}"]) {
    const { err } = await runCli(['send', 'a.b', '--to', receiver.url, '--data', data])
    expect(err).toContain('--data is not JSON')
  }
})
