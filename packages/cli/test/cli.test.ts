import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { memoryStore } from '@ackhook/core'
import { createEvent, signedRequest } from '@ackhook/testing'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { runProcess, startProcess } from './cli-process.ts'
import { type ReceivingServer, startReceiver } from './receiving-server.ts'
import { type CliOptions, OTHER_SECRET, type RunningCli, runCli, SECRET, startCli } from './run-cli.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

let receiver: ReceivingServer
let folder: string
const running: RunningCli[] = []

beforeEach(async () => {
  receiver = await startReceiver(SECRET)
  folder = await mkdtemp(join(tmpdir(), 'ackhook-cli-'))
})

afterEach(async () => {
  for (const cli of running.splice(0)) {
    cli.stop()
    await cli.ended
  }
  await receiver.close()
  await rm(folder, { recursive: true })
})

const REFUSES_ALL = {
  '~standard': { version: 1, vendor: 'test', validate: () => ({ issues: [{ message: 'no' }] }) },
} as const

/** A store that fails every call. */
const OUT_OF_REACH = { ...memoryStore(), claim: () => Promise.reject(new Error('no connection')) }

interface Reply {
  readonly code: string
}

/** Returns an address whose server has just closed. */
async function closedPort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return `http://127.0.0.1:${port}/`
}

async function startListening(
  args: readonly string[],
  options?: CliOptions,
  start: typeof startCli = startCli,
): Promise<{ cli: RunningCli; url: string }> {
  const cli = start(['listen', '--port', '0', ...args], { cwd: folder, ...options })
  running.push(cli)
  return { cli, url: addressIn(await cli.line(/http:/)) }
}

const addressIn = (line: string): string => `${/http:\/\/[\d.:]+/.exec(line)?.[0]}/webhooks`

const send = (...args: string[]) => runCli(['send', 'conversation.resolved', '--to', receiver.url, ...args])

describe('send', () => {
  test('delivers a realistic event and ends with 0', async () => {
    const { code, out } = await send()
    expect(out).toMatch(/✓ 1 event sent, 1 acknowledged[\s\S]*evt_[\s\S]*202 accepted[\s\S]*p50[\s\S]*p99/)
    expect(code).toBe(0)
    expect(receiver.handled).toMatchObject([{ data: { channel: 'whatsapp', resolved_by: 'ai' } }])
  })

  test('accepts an id, and data as JSON or from a file', async () => {
    await send('--data', '{"resolved_by":"agent"}', '--id', 'evt_mine')
    const file = join(folder, 'data.json')
    await writeFile(file, '{"conversation_id":"cnv_file"}')
    await send('--data', file)
    expect(receiver.handled).toMatchObject([
      { id: 'evt_mine', data: { resolved_by: 'agent', channel: 'whatsapp' } },
      { data: { conversation_id: 'cnv_file' } },
    ])
  })

  test('notes a number that JSON changes', async () => {
    const typed = await send('--data', '{"n":12345678901234567890}')
    expect(typed.err).toContain(
      'Note: --data sends 12345678901234567890 as 12345678901234567000; ackhook emulator',
    )
    expect((await send('--data', '{"n":-1.5,"text":"1.0"}')).err).not.toContain('Note')
  })

  test('sends many at a rate, each twice, and counts the replies as JSON', async () => {
    const startedAt = performance.now()
    const { out, code } = await send('--repeat', '10', '--rate', '50', '--duplicate', '--json')
    expect(performance.now() - startedAt).toBeGreaterThan(180)
    const summary = JSON.parse(out)
    expect(summary).toMatchObject({
      sent: 10,
      acknowledged: 10,
      undelivered: 0,
      replies: { '202 accepted': 10, '200 duplicate': 10 },
    })
    expect(summary.p99Ms).toBeGreaterThanOrEqual(summary.p50Ms)
    expect(receiver.handled).toHaveLength(10)
    expect(code).toBe(0)
  })

  test('a forged signature ends with 1 and advice on likely causes', async () => {
    const args = ['send', 'conversation.resolved', '--to', receiver.url]
    const { code, out } = await runCli(args, { env: { SIGNING_SECRET: OTHER_SECRET } })
    expect(out).toMatch(/✗ 1 event sent, 0 acknowledged, 1 not[\s\S]*401 unauthorized/)
    expect(out).toMatch(/1\. The secret[\s\S]*2\. The unit of t[\s\S]*3\. The clock[\s\S]*4\. The header/)
    expect(code).toBe(1)
    expect(receiver.refusals).toEqual(['signature_mismatch'])
  })

  test("follows the receiver's contract", async () => {
    const contract = {
      header: 'X-Platform-Signature',
      scheme: 'v2',
      timestampUnit: 'milliseconds',
      fields: { id: 'event_id', type: 'event' },
    } as const
    const other = await startReceiver(SECRET, { contract })
    const args = ['send', 'conversation.resolved', '--to', other.url, '--id', 'evt_9']
    const flags = [
      ['--header', 'x-platform-signature'],
      ['--scheme', 'v2'],
      ['--timestamp-unit', 'milliseconds'],
      ['--field', 'id=event_id', '--field', 'type=event'],
    ]
    for (const left of flags) {
      const rest = flags.filter(one => one !== left).flat()
      const { code, out } = await runCli([...args, ...rest])
      expect(out).toContain(
        left[0] === '--field'
          ? 'Set them as in its contract.fields: --field id=event_id'
          : '401 unauthorized',
      )
      expect(code).toBe(1)
    }
    expect(other.refusals).toEqual([
      'signature_missing',
      'signature_malformed',
      'timestamp_malformed',
      'envelope_invalid',
    ])
    expect((await runCli([...args, ...flags.flat()])).code).toBe(0)
    expect(other.handled).toMatchObject([{ id: 'evt_9', type: 'conversation.resolved' }])
    await other.close()
  })

  test.each([
    [
      '422 event_invalid',
      "does not match your app's schema",
      { events: { 'conversation.resolved': REFUSES_ALL } },
    ],
    [
      '500 secret_unavailable',
      'is SIGNING_SECRET set',
      { secret: () => Promise.reject(new Error('no vault')) },
    ],
    ['503 store_unavailable', '--attempts', { store: OUT_OF_REACH }],
  ])('the hint for %s says %j', async (reply, hint, options) => {
    const other = await startReceiver(SECRET, options)
    const { out } = await runCli(['send', 'conversation.resolved', '--to', other.url])
    await other.close()
    expect(out).toContain(reply)
    expect(out).toContain(hint)
  })

  test("a reply from something else is not mistaken for a receiver's", async () => {
    const server = createServer((request, response) => {
      const status = Number(request.url?.slice(1))
      response.writeHead(status, status === 302 ? { location: '/elsewhere?x=1' } : {}).end()
    }).listen(0, '127.0.0.1')
    await new Promise(resolve => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    const hints: Record<string, RegExp> = {
      200: /not from an Ackhook receiver: check the path/,
      302: /A redirect is not an acknowledgement, and is not followed: send to http:\/\/[\d.:]+\/elsewhere\?x=1, if/,
      403: /requires a login/,
      404: /no route for this path or method/,
    }
    for (const [status, hint] of Object.entries(hints)) {
      const { out } = await runCli([
        'send',
        'conversation.resolved',
        '--to',
        `http://127.0.0.1:${port}/${status}`,
      ])
      expect(out).toMatch(hint)
    }
    server.close()
  })

  test('suggests the correct spelling of a type, and notes that its data is not published', async () => {
    const misspelled = await runCli(['send', 'conversation.resolvd', '--to', receiver.url])
    expect(misspelled.err).toContain('no type conversation.resolvd; did you mean conversation.resolved?')
    expect(misspelled.code).toBe(0)
    const unknown = await runCli(['send', 'call.started', '--to', receiver.url])
    expect(unknown.err).toContain('call.started has no published data, so its data is empty')
    const own = await runCli(['send', 'call.started', '--to', receiver.url, '--data', '{"n":1}'])
    expect([own.err, (await send()).err]).toEqual(['', ''])
  })

  test('--list prints the published type and the planned ones, which are marked as guesses', async () => {
    const { code, out } = await runCli(['send', '--list'], { env: {} })
    expect(code).toBe(0)
    expect(out).toMatch(
      /^Published\n {2}conversation\.resolved .*"resolved_by":"ai"[\s\S]*guesses[\s\S]*call\.missed/,
    )
    const { types } = JSON.parse((await runCli(['send', '--list', '--json'], { env: {} })).out)
    const published = types.filter((one: { published: boolean }) => one.published)
    expect(published.map((one: { type: string }) => one.type)).toEqual(['conversation.resolved'])
    expect(types).toContainEqual(expect.objectContaining({ type: 'message.delivered', published: false }))
    const example = types.find((one: { type: string }) => one.type === 'call.missed')
    const sent = await runCli([
      'send',
      'call.missed',
      '--to',
      receiver.url,
      '--data',
      JSON.stringify(example.data),
    ])
    expect(sent.code).toBe(0)
  })

  test('names a missing type or address', async () => {
    const withoutType = await runCli(['send', '--to', receiver.url])
    expect(withoutType).toMatchObject({ code: 2, err: expect.stringContaining('--list') })
    const withoutAddress = await runCli(['send', 'conversation.resolved'])
    expect(withoutAddress).toMatchObject({ code: 2, err: expect.stringContaining('--to') })
  })

  test('--dry-run prints the signed request, and sends nothing', async () => {
    const { code, out } = await send('--dry-run', '--id', 'evt_1')
    expect(out).toMatch(
      /^POST \/webhooks HTTP\/1\.1\nhost: 127[\s\S]*x-service-signature: t=\d{10},v1=[0-9a-f]{64}\n\n\{"id":"evt_1"/,
    )
    const json = JSON.parse((await send('--dry-run', '--json')).out)
    expect(json).toMatchObject({ method: 'POST', url: receiver.url })
    expect(code).toBe(0)
    expect(receiver.handled).toEqual([])
    expect((await fetch(json.url, json)).status).toBe(202)
  })

  test('--curl prints commands that sign the event and send it', async () => {
    const { code, out } = await send('--curl', '--data', `{"note":"it's \\"quoted\\" $HOME"}`)
    expect(code).toBe(0)
    expect(receiver.handled).toEqual([])
    const env = { ...process.env, SIGNING_SECRET: SECRET }
    const { stdout } = await promisify(execFile)('sh', ['-c', out], { env })
    expect(stdout).toContain('202 Accepted')
    expect(receiver.handled).toMatchObject([{ data: { note: `it's "quoted" $HOME` } }])
  })

  test('an address without a server ends with 1 and a hint', async () => {
    const { code, out } = await runCli(['send', 'a.b', '--to', await closedPort()])
    expect(out).toMatch(/no reply: ECONNREFUSED[\s\S]*start your app first/)
    expect(code).toBe(1)
  })
})

describe('listen', () => {
  test('shows which deliveries verify and why others do not, and replies accordingly', async () => {
    const { cli, url } = await startListening(['--count', '2'])
    const good = await runCli(['send', 'conversation.resolved', '--to', url])
    expect(good.code).toBe(0)
    const bad = await fetch(
      url,
      signedRequest(createEvent('a.b'), { secret: SECRET, timestamp: Math.floor(Date.now() / 1000) - 3000 }),
    )
    expect(bad.status).toBe(401)
    const { out, code } = await cli.ended
    expect(out).toMatch(/✓ .*conversation\.resolved {2}evt_\w+ {2}verified/)
    expect(out).toMatch(/✗ .*a\.b .*refused: timestamp_too_old[\s\S]*50 minutes ahead of/)
    expect(code).toBe(1)
  })

  test("forwards byte for byte, returns the app's reply, and saves each delivery", async () => {
    const args = ['--forward', receiver.url, '--save', 'saved', '--json']
    const { cli, url } = await startListening(args, {}, startProcess)
    const body = '{ "id":"evt_1",  "type":"a.b","created_at":"2026-03-01T12:00:00Z","data":{"x":"ë"} }\n'
    const request = signedRequest(body, { secret: SECRET, headers: { 'X-More': 'kept' } })
    const first = await fetch(url, request)
    expect([first.status, ((await first.json()) as Reply).code]).toEqual([202, 'accepted'])
    const second = await fetch(url, request)
    expect([second.status, ((await second.json()) as Reply).code]).toEqual([200, 'duplicate'])
    await cli.line(/"forwarded":200/)

    const names = (await readdir(join(folder, 'saved'))).sort()
    expect(names).toHaveLength(2)
    expect(names[0]).toMatch(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z_a\.b_evt_1\.json$/)
    for (const path of ['saved', join('saved', names[0]!)])
      expect((await stat(join(folder, path))).mode & 0o077).toBe(0)
    const saved = JSON.parse(await readFile(join(folder, 'saved', names[0]!), 'utf8'))
    expect(Buffer.from(saved.body, 'base64').toString()).toBe(body)
    expect(saved.headers).toContainEqual(['x-more', 'kept'])

    cli.stop()
    const { code, out } = await cli.ended
    expect(code).toBe(0)
    const lines = out.trim().split('\n')
    expect(lines.map(line => JSON.parse(line))).toMatchObject([
      { listening: expect.stringContaining('http://') },
      { type: 'a.b', id: 'evt_1', verified: true, code: 'accepted', forwarded: 202 },
      { verified: true, forwarded: 200 },
    ])
  })

  test("a delivery that verifies here but not in the app is blamed on the app's secret", async () => {
    const app = await startReceiver(OTHER_SECRET)
    const { cli, url } = await startListening(['--forward', app.url, '--count', '1'])
    const sent = await runCli(['send', 'a.b', '--to', url])
    await app.close()
    expect(sent.out).toMatch(/ackhook listen --forward <url> with your app's secret/)
    const { out } = await cli.ended
    expect(out).toMatch(/verified {2}forwarded: 401/)
    expect(out).toMatch(/verifies here with the secret from SIGNING_SECRET\. Your app refuses it/)
  })

  test('if the app does not reply, the reply is 502, so that the sender keeps the event', async () => {
    const { url } = await startListening(['--forward', await closedPort()])
    const { out, code } = await runCli(['send', 'a.b', '--to', url])
    expect(out).toContain('502 forward_failed')
    expect(code).toBe(1)
  })

  test('without a secret, every delivery is accepted and shown as not verified', async () => {
    const { cli, url } = await startListening(['--count', '1'], { env: {} })
    await fetch(url, { method: 'POST', body: 'hello' })
    const { out, code } = await cli.ended
    expect(out).toMatch(/nothing is verified[\s\S]*\? .*not verified/)
    expect(code).toBe(0)
  })

  test("a delivery cannot move the terminal's cursor", async () => {
    const { cli, url } = await startListening(['--count', '1'])
    const body = '{"id":"\\u001b[2J","type":"a\\u001b[1mb","created_at":"x","data":{}}'
    await fetch(url, signedRequest(body, { secret: SECRET }))
    const { out } = await cli.ended
    expect(out).not.toContain('\u001b')
    expect(out).toContain('\\u001b[2J')
  })

  test('a port in use is an error that names the option', async () => {
    const busy = createServer().listen(0, '127.0.0.1')
    await new Promise(resolve => busy.once('listening', resolve))
    const { port } = busy.address() as AddressInfo
    const { code, err } = await runCli(['listen', '--port', String(port)])
    busy.close()
    expect(err).toMatch(/choose another one with --port/)
    expect(code).toBe(2)
  })
})

describe('replay', () => {
  async function saveOne(timestamp: number): Promise<string> {
    const { url } = await startListening(['--save', 'saved'], { env: {} })
    await fetch(
      url,
      signedRequest('{"id":"evt_r","type":"a.b","created_at":"x", "data":{}}', { secret: SECRET, timestamp }),
    )
    return join(folder, 'saved/unverified')
  }

  test('sends the same bytes with the same signature, again and again', async () => {
    const directory = await saveOne(Math.floor(Date.now() / 1000))
    const first = await runCli(['replay', directory, '--to', receiver.url], { env: {} })
    expect(first.out).toMatch(/✓ .*evt_r\.json {2}202 accepted/)
    const second = await runCli(['replay', directory, '--to', receiver.url, '--json'], { env: {} })
    expect(JSON.parse(second.out)).toMatchObject({ acknowledged: 1, deliveries: [{ code: 'duplicate' }] })
    expect([first.code, second.code]).toEqual([0, 0])
  })

  test('a new signature that is refused is not called too old', async () => {
    const directory = await saveOne(Math.floor(Date.now() / 1000))
    const other = await startReceiver(OTHER_SECRET)
    const { out, code } = await runCli(['replay', directory, '--to', other.url], { env: {} })
    await other.close()
    expect(out).toMatch(/✗ .*401 unauthorized[\s\S]*1\. The secret: /)
    expect(out).not.toContain('--resign')
    expect(code).toBe(1)
  })

  test('an old signature is refused with the advice to sign again, and that works', async () => {
    const directory = await saveOne(Math.floor(Date.now() / 1000) - 86_400)
    const old = await runCli(['replay', directory, '--to', receiver.url], { env: {} })
    expect(old.out).toMatch(/✗ .*401 unauthorized[\s\S]*older than the tolerance[\s\S]*--resign/)
    expect(old.out).not.toContain('1. The secret')
    expect(old.code).toBe(1)
    expect(receiver.refusals).toEqual(['timestamp_too_old'])
    const anew = await runCli(['replay', directory, '--to', receiver.url, '--resign'])
    expect(anew.out).toContain('202 accepted')
    expect(anew.code).toBe(0)
    const contract = { header: 'x-other', timestampUnit: 'iso8601' } as const
    const other = await startReceiver(SECRET, { contract })
    const flags = ['--resign', '--header', 'x-other']
    const wrong = await runCli(['replay', directory, '--to', other.url, ...flags])
    expect(wrong.out).toMatch(/401 unauthorized[\s\S]*2\. The unit of t/)
    const args = ['replay', directory, '--to', other.url, ...flags, '--timestamp-unit', 'iso8601']
    expect((await runCli(args)).code).toBe(0)
    await other.close()
  })
})

describe('verify', () => {
  test('diagnoses saved deliveries: exit code, sentence and JSON', async () => {
    const { url } = await startListening(['--save', 'saved'], { env: {} })
    await fetch(url, signedRequest(createEvent('a.b'), { secret: SECRET }))
    const directory = join(folder, 'saved')

    const good = await runCli(['verify', directory])
    expect(good.out).toMatch(/✓ .*verifies/)
    expect(good.code).toBe(0)

    const env = { SIGNING_SECRET: `${SECRET}\n` }
    const bad = await runCli(['verify', directory], { env })
    expect(bad.out).toMatch(
      /✗ .*does not verify: signature_mismatch\n {2}The secret from SIGNING_SECRET ends with a newline/,
    )
    expect(bad.code).toBe(1)

    const json = await runCli(['verify', directory, '--json'], { env })
    expect(JSON.parse(json.out).deliveries).toMatchObject([
      { type: 'a.b', verified: false, findings: [{ cause: 'secret-trailing-white-space', proven: true }] },
    ])
  })

  test('a request that does not verify is saved apart, and spoils nothing', async () => {
    const { cli, url } = await startListening(['--save', 'saved'])
    await fetch(url, signedRequest(createEvent('a.b', { id: 'evt_genuine' }), { secret: SECRET }))
    const hostile = [
      'no json',
      '{',
      '[['.repeat(100_000),
      '"\u001b[2J"',
      JSON.stringify({ type: 'a.b', id: '\u009b' }),
    ]
    for (const body of hostile) await fetch(url, { method: 'POST', body })
    await fetch(url, signedRequest(createEvent('a.b', { id: 'evt_forged' }), { secret: OTHER_SECRET }))
    const nested = `{"id":"evt_deep","type":"a","created_at":"x","data":${'['.repeat(50_000)}${']'.repeat(50_000)}}`
    await fetch(url, signedRequest(nested, { secret: OTHER_SECRET }))
    cli.stop()
    expect((await cli.ended).out.match(/refused: /g)).toHaveLength(hostile.length + 2)

    expect((await readdir(join(folder, 'saved'))).sort()).toEqual([
      expect.stringMatching(/_a\.b_evt_genuine\.json$/),
      'unverified',
    ])
    expect(await readdir(join(folder, 'saved/unverified'))).toHaveLength(hostile.length + 2)
    expect((await stat(join(folder, 'saved/unverified'))).mode & 0o077).toBe(0)
    const replayed = await runCli(['replay', 'saved', '--to', receiver.url, '--json'], { cwd: folder })
    expect(JSON.parse(replayed.out)).toMatchObject({ acknowledged: 1, deliveries: [{ code: 'accepted' }] })
    const drifted = await runCli(['drift', 'saved', 'saved'], { cwd: folder })
    expect(drifted).toMatchObject({ code: 0, out: expect.stringContaining('no difference in 1 recorded') })
    // The one command that explains why something did not verify.
    const verified = await runCli(['verify', 'saved', '--json'], { cwd: folder })
    expect(JSON.parse(verified.out).deliveries).toHaveLength(hostile.length + 3)
    await rm(join(folder, 'saved', (await readdir(join(folder, 'saved')))[0]!))
    const left = await runCli(['replay', 'saved', '--to', receiver.url], { cwd: folder })
    expect(left.err).toContain('those that were not verified are in saved/unverified')
  })

  test('nothing that was not verified is ever among verified deliveries', async () => {
    const verified = await startListening(['--save', 'saved', '--count', '1'])
    await fetch(verified.url, signedRequest(createEvent('a.b', { id: 'evt_genuine' }), { secret: SECRET }))
    await verified.cli.ended
    const without = await startListening(['--save', 'saved', '--count', '2'], { env: {} })
    for (const id of ['evt_1', 'evt_2'])
      await fetch(without.url, signedRequest(createEvent('a.b', { id }), { secret: SECRET }))
    expect((await without.cli.ended).out).toContain('all is saved in saved/unverified')
    expect((await readdir(join(folder, 'saved'))).sort()).toEqual([
      expect.stringContaining('evt_genuine'),
      'unverified',
    ])
    await rm(join(folder, 'saved', (await readdir(join(folder, 'saved')))[0]!))
    const drifted = await runCli(['drift', 'saved', 'saved'], { cwd: folder })
    expect(drifted.err).toMatch(/those in \S*saved\/unverified were not verified/)
  })

  test('what strangers send does not fill the disk', async () => {
    await mkdir(join(folder, 'saved/unverified'), { recursive: true })
    await writeFile(join(folder, 'saved/unverified/old.json'), '')
    await truncate(join(folder, 'saved/unverified/old.json'), 67_108_864 - 1500)
    const { cli, url } = await startListening(['--save', 'saved', '--count', '3'])
    for (const secret of [OTHER_SECRET, OTHER_SECRET, SECRET])
      await fetch(url, signedRequest(createEvent('a.b'), { secret }))
    const { out } = await cli.ended
    expect(out.match(/not saved: the folder of unverified deliveries is full/g)).toHaveLength(1)
    expect(out.match(/saved as saved/g)).toHaveLength(2)
  })

  test("reads type and id from the contract's fields", async () => {
    const flags = ['--field', 'id=event_id', '--field', 'type=event']
    const { cli, url } = await startListening(['--save', 'saved', '--count', '1', ...flags])
    const sent = await runCli(['send', 'conversation.resolved', '--to', url, '--id', 'evt_7', ...flags])
    expect(sent.out).toContain('202 accepted')
    expect((await cli.ended).out).toMatch(/✓ .*conversation\.resolved {2}evt_7 {2}verified/)
    const [name] = await readdir(join(folder, 'saved'))
    expect(name).toMatch(/_conversation\.resolved_evt_7\.json$/)
    const { out } = await runCli(['verify', join(folder, 'saved'), ...flags])
    expect(out).toMatch(/✓ .*conversation\.resolved evt_7 {2}verifies/)
    const wrong = await runCli(['verify', join(folder, 'saved'), '--field', 'ident=event_id'])
    expect(wrong.err).toContain('id=event_id')
    expect(wrong.code).toBe(2)
  })

  test('a file that is not a saved delivery is an error with the reason', async () => {
    const file = join(folder, 'x.json')
    for (const [content, reason] of [
      ['nonsense', /x\.json: .*not JSON/],
      ['{"receivedAt":"soon"}', /'receivedAt' is not a time/],
      ['{"receivedAt":"2026-01-01T00:00:00Z","body":"*"}', /'body' is not base64/],
    ] as const) {
      await writeFile(file, content)
      const { code, err } = await runCli(['verify', file])
      expect(err).toMatch(reason)
      expect(code).toBe(2)
    }
    expect((await runCli(['verify', 'missing.json'])).err).toContain('there is no file or directory')
  })
})

describe('secrets', () => {
  test('come from a file', async () => {
    await writeFile(
      join(folder, '.env'),
      `# secret\nSIGNING_SECRET="${SECRET}"\nSIGNING_SECRET_2=${OTHER_SECRET}\n`,
    )
    const args = ['send', 'a.b', '--to', receiver.url, '--secrets-file', '.env']
    expect((await runCli(args, { cwd: folder, env: {} })).code).toBe(0)
    await writeFile(join(folder, '.env'), 'OTHER=1\n')
    const empty = await runCli(args, { cwd: folder, env: {} })
    expect(empty.err).toContain('.env does not set SIGNING_SECRET')
    expect(empty.code).toBe(2)
    const missing = await runCli([...args.slice(0, -1), 'missing'], { cwd: folder, env: {} })
    expect(missing.err).toContain('cannot read the secrets file missing')
    expect(missing.code).toBe(2)
  })

  test('on the command line work, with a warning', async () => {
    const { code, err } = await runCli(['send', '--secret', SECRET, 'a.b', '--to', receiver.url], { env: {} })
    expect(err).toMatch(/Warning: a secret on the command line can be read/)
    expect(code).toBe(0)
  })

  test('that are missing end with 2 and the fix if there is no prompt', async () => {
    const { code, err } = await runCli(['send', 'a.b', '--to', receiver.url], { env: {} })
    expect(err).toMatch(/no signing secret: set SIGNING_SECRET/)
    expect(code).toBe(2)
  })

  test('are never printed or written to a saved delivery', async () => {
    const env = { SIGNING_SECRET: SECRET, SIGNING_SECRET_2: OTHER_SECRET }
    const { cli, url } = await startListening(['--save', 'saved'], { env })
    await fetch(url, signedRequest(createEvent('a.b'), { secret: OTHER_SECRET }))
    await fetch(url, signedRequest(createEvent('a.b'), { secret: 'whsec_quite_another_one' }))
    await cli.line(/refused/)
    const printed: string[] = []
    for (const args of [
      ['verify', 'saved'],
      ['verify', 'saved', '--json'],
      ['send', 'a.b', '--to', url, '--json'],
      ['send', 'a.b', '--to', url, '--secret', SECRET],
      ['replay', 'saved', '--to', url, '--resign', '--json'],
      ['verify', 'saved', '--secret', 'short'],
    ]) {
      const { out, err } = await runCli(args, { env, cwd: folder })
      printed.push(out, err)
    }
    cli.stop()
    const { out, err } = await cli.ended
    const files = await readdir(join(folder, 'saved'), { recursive: true })
    for (const name of files.filter(name => name.endsWith('.json')))
      printed.push(await readFile(join(folder, 'saved', name), 'utf8'))
    const all = [...printed, out, err].join('\n')
    expect(all).not.toContain(SECRET)
    expect(all).not.toContain(OTHER_SECRET)
  })
})

describe('as a separate process', () => {
  const acknowledged = ['send', 'conversation.resolved', '--to']

  test('it ends by itself with its exit code, and prints no colors without a terminal', async () => {
    const sent = await runProcess([...acknowledged, receiver.url])
    expect(sent).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/202 accepted/) })
    expect(sent.out).not.toContain('\u001b')
    const refused = await runProcess([...acknowledged, receiver.url], {
      env: { SIGNING_SECRET: OTHER_SECRET },
    })
    expect(refused).toMatchObject({ code: 1, out: expect.stringMatching(/401 unauthorized/) })
    const wrong = await runProcess([...acknowledged, 'localhost'])
    expect(wrong).toMatchObject({ code: 2, out: '', err: expect.stringContaining('full address') })
  })

  test('listen, replay and verify also end by themselves', async () => {
    const { cli, url } = await startListening(['--save', 'saved', '--count', '1'], {}, startProcess)
    await fetch(url, signedRequest(createEvent('a.b'), { secret: SECRET }))
    expect(await cli.ended).toMatchObject({ code: 0, err: '' })
    expect((await runProcess(['verify', 'saved'], { cwd: folder })).code).toBe(0)
    expect((await runProcess(['replay', 'saved', '--to', receiver.url], { cwd: folder })).code).toBe(0)
  })
})

describe('the command line itself', () => {
  test('suggests the closest option and command, and ends with 2', async () => {
    const option = await runCli(['send', 'a.b', '--to', receiver.url, '--duplicat'])
    expect(option.err).toMatch(/Did you mean --duplicate\?/)
    const command = await runCli(['verfy', 'x'])
    expect(command.err).toMatch(/Did you mean verify\?/)
    expect([option.code, command.code]).toEqual([2, 2])
  })

  test('a wrong value is an error that shows the correct form', async () => {
    const rate = await runCli(['send', 'a.b', '--to', receiver.url, '--rate', 'fast'])
    expect(rate.err).toContain('number of events per second')
    const to = await runCli(['send', 'a.b', '--to', 'localhost'])
    expect(to.err).toContain('full address')
    expect([rate.code, to.code]).toEqual([2, 2])
  })

  test('an invalid header name or label is an error before anything is sent', async () => {
    const sent = await send('--header', 'bad header')
    expect(sent.err).toMatch(/'header'.*HTTP header name/)
    const file = join(folder, 'one.json')
    await writeFile(file, JSON.stringify({ receivedAt: '2026-03-01T12:00:00Z', body: '' }))
    const replayed = await runCli(['replay', file, '--to', receiver.url, '--resign', '--scheme', 't'])
    expect(replayed.err).toMatch(/scheme'.*label/)
    expect([sent.code, replayed.code]).toEqual([2, 2])
  })

  test('a password in an address is refused, and never printed', async () => {
    const url = receiver.url.replace('://', '://me:hidden@')
    for (const args of [
      ['send', 'a.b', '--to', url],
      ['send', 'a.b', '--json', '--to', url],
      ['send', 'a.b', '--to', 'me:hidden@localhost'],
      ['replay', 'one.json', '--to', url],
      ['listen', '--forward', url],
    ]) {
      const { code, out, err } = await runCli(args)
      expect(err).toContain('remove the part before the @')
      expect(out + err).not.toContain('hidden')
      expect(code).toBe(2)
    }
  })

  test('ends without an error when the reader closes the pipe', async () => {
    const cli = startProcess(['listen', '--port', '0'])
    running.push(cli)
    const url = addressIn(await cli.line(/http:/))
    cli.child.stdout?.destroy()
    // The process may notice only at its second line.
    await fetch(url, signedRequest(createEvent('a.b'), { secret: SECRET })).catch(() => {})
    expect(await cli.ended).toMatchObject({ code: 0, err: '' })
  })

  test.each([
    [],
    ['send'],
    ['listen'],
    ['replay'],
    ['verify'],
    ['inbox'],
    ['emulator'],
    ['emulator', 'start'],
  ])('has help with examples: %s', async (...path) => {
    const { code, out } = await runCli([...path, '--help'])
    expect(out).toMatch(/Examples:\n {2}\$ /)
    expect(code).toBe(0)
  })

  test('an inbox that is missing or not installed is an error with the fix', async () => {
    const nowhere = await runCli(['inbox', 'stats'], { cwd: folder })
    expect(nowhere.err).toContain('--sqlite <file>, --redis <url> or --postgres <url>')
    const missing = await runCli(['inbox', 'stats', '--sqlite', 'none.db'], { cwd: folder })
    expect(missing.err).toContain('there is no database none.db')
    expect([nowhere.code, missing.code]).toEqual([2, 2])
  })
})

describe('ackhook sql', () => {
  test.each(['postgres', 'mysql', 'sqlite'])('prints the tables for %s', async database => {
    const { code, out } = await runCli(['sql', database])
    expect(code).toBe(0)
    expect(out.match(/^CREATE TABLE IF NOT EXISTS ackhook_\w+/gm)).toHaveLength(3)
  })

  test('refuses another database, with the ones that there are', async () => {
    const { code, err } = await runCli(['sql', 'oracle'])
    expect(code).toBe(2)
    expect(err).toContain('postgres, mysql, sqlite')
  })
})
