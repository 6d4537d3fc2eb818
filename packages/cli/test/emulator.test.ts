import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify, stripVTControlCharacters } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import { freePort } from '../../../test/support/free-port.ts'
import { emulatorCommand, VERBS } from '../src/emulator/emulator-command.ts'
import { withYes } from '../src/emulator/options.ts'
import { run as runCommand } from '../src/run.ts'
import { startProcess } from './cli-process.ts'
import { fakeTerminal } from './fake-terminal.ts'
import { type ReceivingServer, startReceiver } from './receiving-server.ts'
import { type CliOptions, type CliResult, type RunningCli, runCli, SECRET, startCli } from './run-cli.ts'

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

interface Started {
  readonly url: string
  readonly process: RunningCli
  readonly ready: { readonly ready: string; readonly health: string; readonly secret: string | null }
  /** Runs another command on this emulator. */
  run(...args: string[]): Promise<CliResult>
}

async function startEmulator(args: string[] = [], options: CliOptions = {}): Promise<Started> {
  const process = startCli(['emulator', 'start', '--port', '0', '--json', ...args], options)
  stops.push(() => stopped(process))
  const ready = JSON.parse(await process.line(/"ready"/))
  const run = (...rest: string[]) => runHere([...rest, '--at', ready.ready], options.env)
  return { url: ready.ready, process, ready, run }
}

function stopped(process: RunningCli): Promise<CliResult> {
  process.stop()
  return process.ended
}

async function receiverWith(secret = SECRET): Promise<ReceivingServer> {
  const receiver = await startReceiver(secret)
  stops.push(() => receiver.close())
  return receiver
}

function runHere(args: readonly string[], env: CliOptions['env'] = {}): Promise<CliResult> {
  return runCli(['emulator', ...args], { env })
}

/** Starts an emulator that sends to a receiver. */
async function both(...args: string[]) {
  const receiver = await receiverWith()
  return { receiver, ...(await startEmulator(['--to', receiver.url, ...args])) }
}

/** Replies 500 to every request. */
async function brokenReceiver(reply = ''): Promise<string> {
  const server = createServer((request, response) =>
    request.resume().on('end', () => response.writeHead(500).end(reply)),
  )
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  stops.push(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

/** Every verb but start, with arguments. */
const NEED_AN_EMULATOR = Object.values(VERBS)
  .flat()
  .filter(one => one.name !== 'start')
  .map(({ name, args = [] }) => {
    const words = args.map(([arg]) => (arg.startsWith('<duration') ? '5m' : 'lostReply'))
    const flags = name === 'endpoint set' ? ['--all-types'] : /discard|remove/.test(name) ? ['--yes'] : []
    return [name, ...flags, ...words].join(' ')
  })

describe('start', () => {
  test('without any configuration, prints a secret once and is ready', async () => {
    const port = await freePort()
    const to = `http://127.0.0.1:${port}/webhooks`
    const process = startCli(['emulator', 'start', '--port', '0', '--to', to], { env: {} })
    stops.push(() => stopped(process))
    const page = await process.line(/^ {2}page +http:\/\/127\.0\.0\.1:\d+$/)
    expect(await process.line(/^ {2}API /)).toContain(`${page.trim().split(/ +/)[1]}/_emulator/v1`)
    expect(await process.line(/^ {2}app /)).toContain(to)
    expect(await process.line(/export SIGNING_SECRET=/)).toMatch(/SIGNING_SECRET=whsec_[\w-]{32}$/)
    // The suggested command finds this emulator on any port.
    const [, ...suggested] = (await process.line(/ emulator send /)).trim().split(' ')
    expect(await runCommand(suggested.slice(1), fakeTerminal())).toBe(1)
  })

  test("keeps the environment's secret for an endpoint that is set later, and generates one if there is none", async () => {
    const receiver = await receiverWith()
    const { run } = await startEmulator()
    const set = await run('endpoint', 'set', '--to', receiver.url)
    expect(set.out).toMatch(/secret +••••/)
    expect(set.out).not.toContain('export SIGNING_SECRET')
    expect((await run('send', 'conversation.resolved')).code).toBe(0)
    const without = await startEmulator([], { env: {} })
    const made = await without.run('endpoint', 'set', '--to', receiver.url)
    expect(made.out).toMatch(/export SIGNING_SECRET=whsec_/)
    expect(await without.run('send', 'conversation.resolved')).toMatchObject({
      code: 1,
      out: expect.stringMatching(
        /refused the signature[\s\S]*--header and --scheme are options of ackhook emulator start/,
      ),
    })
    expect(await without.run('health')).toMatchObject({
      code: 1,
      out: expect.stringContaining('default: the last attempt was not acknowledged'),
    })
  })

  test('ends with 0 on SIGTERM and on Ctrl-C', async () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const process = startProcess(['emulator', 'start', '--port', '0', '--json'])
      stops.push(() => stopped(process))
      await process.line(/"ready"/)
      process.child.kill(signal)
      expect(await process.ended).toMatchObject({ code: 0, err: '' })
    }
  })

  test('--setup sets endpoints and faults from a file', async () => {
    const receiver = await receiverWith()
    const folder = mkdtempSync(join(tmpdir(), 'ackhook-setup-'))
    stops.push(() => rmSync(folder, { recursive: true }))
    const write = (value: object) => writeFileSync(join(folder, 'emulator.json'), JSON.stringify(value))
    write({
      endpoints: {
        default: { url: receiver.url },
        acme: { url: receiver.url, secret: 'another-secret-of-acme' },
      },
      faults: { answer: 503, answerNext: 1 },
    })
    const { run } = await startEmulator(['--setup', 'emulator.json'], {
      cwd: folder,
      env: { SIGNING_SECRET: SECRET },
    })
    expect((await run('workspaces')).out).toContain('acme')
    expect(JSON.parse((await run('faults', '--json')).out)).toEqual({ answer: 503, answerNext: 1 })
    await run('faults', 'clear')
    expect((await run('send', 'conversation.resolved')).code).toBe(0)
    // It signs with the secret of its own.
    expect((await run('send', 'conversation.resolved', '--workspace', 'acme')).code).toBe(1)

    const refused = async (value: object) => {
      write(value)
      const { code, err } = await startCli(['emulator', 'start', '--port', '0', '--setup', 'emulator.json'], {
        cwd: folder,
      }).ended
      return [code, err]
    }
    expect(await refused({ fault: {} })).toEqual([2, expect.stringContaining('unknown field fault')])
    expect(await refused({ faults: { tampr: true } })).toEqual([
      2,
      expect.stringMatching(/--setup emulator\.json: faults: .*tampr/),
    ])
    expect(await refused({ endpoints: { acme: { url: 'ftp://x' } } })).toEqual([
      2,
      expect.stringContaining('--setup emulator.json: endpoints.acme: '),
    ])
  })

  test('serves a health route for CI', async () => {
    const { ready } = await startEmulator()
    const health = await fetch(ready.health)
    expect([health.status, await health.json()]).toEqual([200, expect.objectContaining({ status: 'ready' })])
  })

  test("signs with the environment's secret, and does not print it", async () => {
    const { process, run, receiver, ready } = await both()
    expect(ready.secret).toBeNull()
    expect((await run('send', 'conversation.resolved')).code).toBe(0)
    expect(receiver.handled).toHaveLength(1)
    const line = await process.line(/"delivery"/)
    expect(JSON.parse(line).delivery).toMatchObject({ state: 'acknowledged', lastStatus: 202 })
    expect((await stopped(process)).out).not.toContain(SECRET)
  })

  test('keeps its log and its secret in a file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ackhook-emulator-cli-'))
    stops.push(() => rmSync(folder, { recursive: true, force: true }))
    const broken = await brokenReceiver()
    const first = await startEmulator(['--to', broken, '--data', 'emulator.db'], { env: {}, cwd: folder })
    expect(first.ready.secret).toMatch(/^whsec_/)
    await first.run('send', 'conversation.resolved', '--id', 'evt_kept', '--no-wait')
    await stopped(first.process)
    const second = await startEmulator(['--to', broken, '--data', 'emulator.db'], { env: {}, cwd: folder })
    expect(second.ready.secret).toBeNull()
    expect((await second.run('list')).out).toContain('evt_kept')
  })

  test("prints an app's reply without its control characters", async () => {
    const hostile = await brokenReceiver(JSON.stringify({ code: '\u001b[2J\u009b31m' }))
    const process = startCli(['emulator', 'start', '--port', '0', '--to', hostile])
    stops.push(() => stopped(process))
    const url = (await process.line(/^ {2}page /)).trim().split(/ +/)[1] as string
    for (const id of ['evt_1', 'evt_2'])
      await runHere(['send', 'conversation.resolved', '--id', id, '--no-wait', '--at', url])
    expect(await process.complaint(/is not healthy: /)).toMatch(/is not healthy: .*\\u001b\[2J\\u009b31m/)
    const { out, err } = await stopped(process)
    for (const control of ['\u001b', '\u009b']) expect(out + err).not.toContain(control)
  })

  test.each<[string, string[], RegExp]>([
    ['another host as a receiver', ['--to', 'http://app:3000/webhooks'], /--to: leads.*--allow-target/],
    ['a network address without a token', ['--host', '0.0.0.0'], /--host.*ACKHOOK_EMULATOR_TOKEN/],
    ['plain HTTP', ['--to', 'http://127.0.0.1:1/', '--https-only'], /https:\/\//],
    ['a fault that does not exist', ['--fault', 'gremlins'], /--fault gremlins: is not an option/],
    ['a chance that is none', ['--fault', 'duplicate=7'], /--fault duplicate: must be/],
    ['a delay that is too long', ['--min-delay', '400d'], /--min-delay: must be/],
    ['a target with a scheme', ['--allow-target', 'http://app'], /^Error: --allow-target: must be/],
    ['a field twice', ['--to', 'http://localhost/', '--field', 'id=type'], /--field: must give/],
    ['a port that is none', ['--port', '70000'], /port/],
  ])('ends with 2 at %s, and says how to fix it', async (_, args, message) => {
    const { code, err } = await runHere(['start', '--port', '0', ...args])
    expect(code).toBe(2)
    expect(err).toMatch(message)
  })

  test('ends with 2 when the port is in use', async () => {
    const { url } = await startEmulator()
    const { code, err } = await runHere(['start', '--port', new URL(url).port])
    expect([code, err]).toEqual([2, expect.stringMatching(/port \d+ is in use by another emulator, without/)])
    const broken = await brokenReceiver()
    const { code: again, err: other } = await runHere(['start', '--port', new URL(broken).port])
    expect([again, other]).toEqual([2, expect.stringMatching(/--port: \d+ is in use: choose another one/)])
  })

  test('names the target of the emulator that uses its port', async () => {
    const { url, receiver } = await both()
    const { err } = await runHere(['start', '--port', new URL(url).port])
    expect(err).toContain(`another emulator, sending to ${receiver.url}: stop that one, or choose`)
  })

  test('ends with 2 at a secret that every app refuses, with and without --to', async () => {
    for (const to of [[], ['--to', 'http://localhost:1/']]) {
      const { code, err } = await runHere(['start', '--port', '0', ...to], { SIGNING_SECRET: 'short' })
      expect([code, err]).toEqual([
        2,
        expect.stringMatching(/^Error: SIGNING_SECRET: must be at least 16 bytes/),
      ])
    }
  })

  test('requires its token, which every command reads from the environment', async () => {
    const env = { ACKHOOK_EMULATOR_TOKEN: 'a-token-for-this-test' }
    const { url, run } = await startEmulator([], { env })
    expect((await run('list')).code).toBe(0)
    const without = await runHere(['list', '--at', url])
    expect([without.code, without.err]).toEqual([2, expect.stringContaining('ACKHOOK_EMULATOR_TOKEN')])
  })
})

describe('send', () => {
  test('waits for the reply, and ends with 0 if it is an acknowledgement', async () => {
    const { run, receiver } = await both()
    const { code, out } = await run(
      'send',
      'conversation.resolved',
      '--id',
      'evt_1',
      '--data',
      '{"resolved_by":"agent"}',
    )
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^✓ conversation\.resolved {2}evt_1 {2}202 accepted/),
    ])
    expect(receiver.handled).toMatchObject([{ id: 'evt_1', data: { resolved_by: 'agent' } }])
  })

  test('sends many, with faults, and reports them as JSON', async () => {
    const { run, receiver } = await both()
    const { code, out } = await run('send', 'a.b', '--repeat', '30', '--fault', 'duplicate', '--json')
    expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ sent: 30, acknowledged: 30 })])
    await run('wait', '--idle')
    const { deliveries } = JSON.parse((await run('list', '--json', '--limit', '100')).out)
    expect(deliveries).toHaveLength(60)
    expect(receiver.handled).toHaveLength(30)
  })

  test('with --no-wait, sends more events than fit into one call, and ends at once', async () => {
    const { run } = await both()
    const { code, out } = await run('send', 'a.b', '--repeat', '510', '--no-wait', '--json')
    const { sent, deliveries } = JSON.parse(out)
    expect([code, sent]).toEqual([0, 510])
    expect(new Set(deliveries.map((one: { event: string }) => one.event)).size).toBe(510)
  })

  test('ends with 1 if there is no reply within the timeout, and shows pending deliveries', async () => {
    const server = createServer(() => {})
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    stops.push(
      () => server.closeAllConnections(),
      () => server.close(),
    )
    const { port } = server.address() as AddressInfo
    const { run } = await startEmulator(['--to', `http://127.0.0.1:${port}/`])
    const { code, out } = await run('send', 'a.b', '--repeat', '3', '--timeout', '300ms')
    expect([code, out.trim().split('\n')]).toEqual([
      1,
      Array(3).fill(expect.stringMatching(/^… a\.b .* pending/)),
    ])
  })

  test('ends with 1 and advice if the receiver refuses', async () => {
    const receiver = await receiverWith('whsec_another-secret-0123')
    const { run } = await startEmulator(['--to', receiver.url])
    const { code, out } = await run('send', 'conversation.resolved')
    expect(code).toBe(1)
    expect(out).toMatch(/401 unauthorized, again at 2[\s\S]*The secret/)
  })

  test('ends with 1 if there is no receiver', async () => {
    const { run } = await startEmulator()
    const { code, out } = await run('send', 'conversation.resolved')
    expect(code).toBe(1)
    expect(out).toMatch(/has no endpoint[\s\S]*endpoint set --to <url>/)
    expect((await run('health')).out).toContain(
      '! default: events were skipped, because the workspace has no endpoint',
    )
  })
})

describe('the log', () => {
  test('list filters, pages and shows the newest first', async () => {
    const { run } = await both()
    for (const [type, id] of [
      ['a.b', 'evt_1'],
      ['c.d', 'evt_2'],
      ['a.b', 'evt_3'],
    ] as const) {
      await run('send', type, '--id', id)
    }
    expect((await run('list', '--type', 'a.b')).out).toMatch(/evt_3[\s\S]*evt_1/)
    expect((await run('list', '--type', 'a.*', '--from', '24h')).out).toMatch(/evt_3[\s\S]*evt_1/)
    expect((await run('list', '--until', 'yesterday')).out).toBe('No deliveries.\n')
    expect(await run('list', '--type', 'a*')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^Error: type 'a\*' is not a pattern: use a type/),
    })
    expect((await run('list', '--type', 'a.b', '--order', 'oldest')).out).toMatch(/evt_1[\s\S]*evt_3/)
    const first = await run('list', '--limit', '2', '--json')
    const { deliveries, next } = JSON.parse(first.out)
    expect(deliveries.map((one: { event: string }) => one.event)).toEqual(['evt_3', 'evt_2'])
    expect((await run('list', '--after', next)).out).toContain('evt_1')
    expect((await run('list', '--state', 'undelivered')).out).toBe('No deliveries.\n')
    expect((await run('list', '--state', 'lost')).code).toBe(2)
    expect((await run('list', '--text', 'ab')).err).toContain('3 characters')
  })

  test('show prints the exact bytes of each attempt, for the id of a delivery or of an event', async () => {
    const { run } = await both()
    await run('send', 'a.b', '--id', 'evt_1', '--data', '{"n":1}')
    const { out, code } = await run('show', 'evt_1')
    expect(code).toBe(0)
    expect(out).toMatch(
      /state +acknowledged[\s\S]*"data":\{"n":1\}[\s\S]*attempt 1[\s\S]*> x-service-signature: t=\d+,v1=/i,
    )
    expect(out).toMatch(/< \{"code":"accepted"/)
    const detail = JSON.parse((await run('show', 'evt_1', '--json')).out)
    expect((await run('show', detail.id)).out).toBe(out)
    expect(await run('show', 'evt_9')).toMatchObject({
      code: 1,
      err: expect.stringContaining('no delivery evt_9'),
    })
  })
})

describe('undelivered and replay', () => {
  test('undelivered deliveries are listed with exit code 1, replayed, and no longer listed', async () => {
    const port = await freePort()
    const to = `http://127.0.0.1:${port}/webhooks`
    const { run } = await startEmulator(['--to', to, '--attempts', '1'])
    await run('send', 'a.b', '--repeat', '3')
    const { code, out } = await run('undelivered')
    expect([code, out.trim().split('\n').slice(1)]).toEqual([
      1,
      Array(3).fill(expect.stringContaining('ECONNREFUSED')),
    ])
    expect((await run('replay', '--all', '--dry-run')).out).toBe('3 would be replayed\n')
    const replayed = await run('replay', '--all', '--json')
    expect([replayed.code, JSON.parse(replayed.out)]).toEqual([
      1,
      { matched: 3, replayed: 3, acknowledged: 0, others: [{ reply: 'no reply: ECONNREFUSED', count: 3 }] },
    ])
    expect((await run('wait', '--idle')).code).toBe(0)
    expect((await run('undelivered', '--json')).code).toBe(1)
    const refused = await run('discard', '--all')
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('--yes')])
    expect((await run('discard', '--type', 'a.b', '--dry-run')).out).toBe('3 would be discarded\n')
    const [one] = JSON.parse((await run('undelivered', '--json')).out).deliveries
    expect((await run('discard', one.id, '--yes')).out).toBe('1 discarded\n')
    expect((await run('discard', '--all', '--yes')).out).toBe('2 discarded\n')
    expect(await run('undelivered')).toMatchObject({ code: 0, out: 'No deliveries.\n' })
  })

  test('replay sends the same event again, its exact request, or an edited event', async () => {
    const { run, receiver } = await both()
    await run('send', 'conversation.resolved', '--id', 'evt_1')
    expect((await run('replay', 'evt_1')).out).toContain('200 duplicate')
    expect((await run('replay', 'evt_1', '--exact')).out).toContain('200 duplicate')
    expect((await run('replay', 'evt_1', '--data', '{"conversation_id":"cnv_2"}')).out).toContain(
      '202 accepted',
    )
    await expect.poll(() => receiver.handled.map(one => one.data['conversation_id'])).toContain('cnv_2')
  })

  test('replay --to sends to another app, signed anew, while the endpoint gets nothing', async () => {
    const down = `http://127.0.0.1:${await freePort()}/webhooks`
    const { run } = await startEmulator(['--to', down, '--attempts', '1'])
    await run('send', 'a.b', '--repeat', '3')
    const other = await receiverWith()
    expect(await run('replay', '--all', '--to', other.url)).toMatchObject({
      code: 0,
      out: '✓ 3 replayed, 3 acknowledged\n',
    })
    expect([other.handled.length, other.refusals]).toEqual([3, []])
    const { deliveries } = JSON.parse((await run('undelivered', '--json')).out)
    expect(deliveries).toHaveLength(3)
    const one = await run('replay', deliveries[0].event, '--to', other.url)
    expect(one).toMatchObject({ code: 0, out: expect.stringContaining('200 duplicate') })
    expect(await run('replay', '--all', '--to', 'http://example.com/')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/--allow-target/),
    })
  })

  test('replay says how many failed again, and why', async () => {
    const { run } = await startEmulator(['--to', await brokenReceiver(), '--attempts', '1'])
    await run('send', 'a.b', '--repeat', '3')
    expect(await run('replay', '--all')).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^✗ 3 replayed, 0 acknowledged\n {2}3 × 500\n/),
    })
  })

  test('show folds attempts with the same reply, and --test prints a test with the event', async () => {
    const { run } = await startEmulator(['--to', await brokenReceiver('{"code":"boom"}'), '--attempts', '5'])
    await run('send', 'a.b', '--id', 'evt_1', '--data', '{"n":1}', '--no-wait')
    for (let i = 0; i < 4; i++) await run('retry', 'evt_1')
    const { out } = await run('show', 'evt_1')
    expect(out).toMatch(/^attempt 1 .* 500 boom$/m)
    expect(out).toMatch(/^attempts 2 to 5 .* the same reply$/m)
    expect(out).not.toMatch(/^attempt 2 /m)
    const test = await run('show', 'evt_1', '--test')
    expect(test.out).toMatch(/import \{ testReceiver \}[\s\S]*n: 1,[\s\S]*deliverEvent\(event\)/)
    expect(test.out).not.toContain(SECRET)
  })

  test('a long replay shows its progress', async () => {
    const { run, url } = await both()
    await run('send', 'a.b', '--repeat', '250', '--no-wait')
    await run('wait', '--idle', '--timeout', '30s')
    const bars: { total: number; advanced: number }[] = []
    const terminal = fakeTerminal({
      progress(total) {
        const bar = { total, advanced: 0 }
        bars.push(bar)
        return { advance: () => void bar.advanced++, stop() {} }
      },
    })
    const codes: number[] = []
    const command = emulatorCommand(terminal, code => codes.push(code))
    await command.parseAsync(['replay', '--state', 'acknowledged', '--at', url], { from: 'user' })
    const bar = { total: 250, advanced: 250 }
    expect([codes, bars, terminal.printed]).toEqual([[0], [bar, bar], ['✓ 250 replayed, 250 acknowledged']])
  })

  test.each([
    [['replay']],
    [['replay', 'evt_1', '--all']],
    [['replay', '--all', '--exact']],
    [['replay', 'evt_1', '--exact', '--data', '{}']],
    [['replay', 'evt_1', '--body', 'missing.json']],
    [['discard']],
    [['discard', 'evt_1', '--all']],
    [['send', 'a.b', '--data', '{}', '--raw-data', '{}']],
    [['send', 'a.b', '--raw-data', '[]']],
    [['endpoint', 'set']],
    [['endpoint', 'set', '--type', 'a.b', '--all-types']],
    [['endpoint', 'puase']],
    [['faults', 'set', 'gremlins']],
    [['messages', 'receive', 'x', '--from', 'nobody']],
  ])('refuses %j with exit code 2', async args => {
    const { run } = await startEmulator()
    expect((await run(...args)).code).toBe(2)
  })

  test("the emulator's refusal names the option as typed", async () => {
    const { run } = await startEmulator()
    expect(await run('endpoint', 'set', '--to', 'http://example.com/x')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^Error: the address leads to .*emulator start --allow-target/),
    })
    expect((await run('clock', 'advance', '5')).err).toMatch(/^Error: the duration must be .*'5s'/)
    expect((await run('list', '--until', 'soon')).err).toMatch(
      /^Error: --until must be a time, such as '24h' \(ago\)/,
    )
  })
})

describe('data', () => {
  test('reaches the receiver as typed with --raw-data, and from a file with replay --body', async () => {
    const { run, receiver } = await both()
    const raw = '{"big":12345678901234567890,"one":1.0}'
    expect((await run('send', 'a.b', '--data', raw)).err).toBe(
      'Note: --data sends 12345678901234567890 as 12345678901234567000; --raw-data keeps it as written.\n',
    )
    expect((await run('send', 'a.b', '--data', '{"n":"1.0","m":-1.5}')).err).toBe('')
    const message = ['messages', 'send', '--to', '+4915112345678', '--template', 'order_shipped']
    expect((await run(...message, '--variables', '{"price":1.0}')).err).toBe(
      'Note: --variables sends 1.0 as 1.\n',
    )
    await run('send', 'a.b', '--id', 'evt_1', '--raw-data', raw)
    const body = (await run('show', 'evt_1', '--body')).out
    expect(body).toContain(`"data":${raw}}`)
    const folder = mkdtempSync(join(tmpdir(), 'ackhook-emulator-cli-'))
    stops.push(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'event.json')
    writeFileSync(file, body.replace('"one":1.0', '"one":2.0'))
    expect((await run('replay', 'evt_1', '--body', file)).out).toContain('202 accepted')
    expect((await run('replay', 'evt_1', '--raw-data', '{"n":1e3}')).out).toContain('202 accepted')
    const bodies = JSON.parse((await run('list', '--json')).out).deliveries.map(
      (one: { id: string }) => one.id,
    )
    expect((await run('show', bodies[1], '--body')).out).toContain('"one":2.0')
    expect((await run('show', bodies[0], '--body')).out).toContain('"data":{"n":1e3}}')
    expect(receiver.handled).toHaveLength(5)
  })

  test('is sent again with a new signature by the commands that show --curl prints', async () => {
    const { run } = await both()
    await run('send', 'a.b', '--id', 'evt_1', '--raw-data', `{"note":"it's $HOME"}`)
    const { out } = await run('show', 'evt_1', '--curl')
    const env = { ...process.env, SIGNING_SECRET: SECRET }
    const shell = await promisify(execFile)('sh', ['-c', out], { env })
    expect(shell.stdout).toMatch(/^HTTP\/1.1 200 [\s\S]*"code":"duplicate"/)
  })

  test('is the same sample for the same seed, and a different one for each of many events', async () => {
    const { run, receiver } = await both()
    const ids = () => receiver.handled.map(one => one.data['conversation_id'])
    await run('send', 'conversation.resolved', '--seed', '7', '--repeat', '3')
    await expect.poll(() => new Set(ids()).size).toBe(3)
    await run('send', 'conversation.resolved', '--seed', '8')
    await expect.poll(ids).toHaveLength(4)
    expect(new Set(ids()).size).toBe(3)
  })
})

describe('the endpoint', () => {
  test('is set, shown with its health and the reason, paused, resumed and removed', async () => {
    const { run } = await startEmulator(['--attempts', '1'])
    expect(await run('endpoint')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/no endpoint\. Set your app's address: npx ackhook emulator endpoint set/),
    })
    const made = await run('endpoint', 'set', '--to', await brokenReceiver(), '--category', 'call')
    expect(made.out).toMatch(/categories +call\n/)
    await run('send', 'call.started', '--repeat', '5')
    await run('send', 'a.b')
    expect((await run('endpoint')).out).toMatch(/health +warning, 5 of 5 attempts.*500/)
    expect(await run('health')).toMatchObject({
      code: 1,
      out: expect.stringMatching(/undelivered +5[\s\S]*! /),
    })
    expect((await run('list', '--state', 'skipped')).out).toContain('not subscribed')
    expect((await run('endpoint', 'pause')).out).toMatch(/state +paused/)
    expect(JSON.parse((await run('endpoint', 'resume', '--json')).out)).toMatchObject({ paused: false })
    const changed = await run('endpoint', 'set', '--all-categories', '--type', 'a.b', '--type', 'c.d')
    expect(changed.out).toMatch(/categories +all\ntypes +a\.b, c\.d\n/)
    expect((await run('endpoint', 'remove')).code).toBe(2)
    expect((await run('endpoint', 'remove', '--yes')).code).toBe(0)
    expect((await run('endpoint')).code).toBe(1)
  })

  test('gets a new secret, which is shown once, while the old one also signs', async () => {
    const { run } = await both()
    const rotated = await run('endpoint', 'rotate-secret', '--overlap', '1h')
    expect(rotated.out).toMatch(/previous +also signs until [\s\S]*export SIGNING_SECRET=whsec_/)
    expect((await run('endpoint')).out).not.toContain('whsec_')
    expect((await run('send', 'a.b', '--id', 'evt_1')).code).toBe(0)
    expect((await run('show', 'evt_1')).out).toMatch(/v1=\w+,v1=/)
    const folder = mkdtempSync(join(tmpdir(), 'ackhook-emulator-cli-'))
    stops.push(() => rmSync(folder, { recursive: true, force: true }))
    writeFileSync(join(folder, '.env'), `SIGNING_SECRET=${SECRET}\n`)
    const given = await run('endpoint', 'rotate-secret', '--secrets-file', join(folder, '.env'), '--json')
    expect(JSON.parse(given.out)).toMatchObject({ secret: null, endpoint: { secret: '••••cdef' } })
  })

  test('of another workspace is selected by --workspace in any position', async () => {
    const { run, receiver } = await both()
    expect((await run('workspaces', 'add', 'two')).out).toContain('endpoint set --workspace two')
    await run('endpoint', 'set', '--workspace', 'two', '--to', receiver.url)
    await run('endpoint', '--workspace', 'two', 'pause')
    expect((await run('workspaces')).out).toMatch(/default +http.* healthy\ntwo +http.* paused\n/)
    expect((await run('workspaces', 'remove', 'two', '--yes')).code).toBe(0)
    expect(JSON.parse((await run('workspaces', '--json')).out).workspaces).toHaveLength(1)
  })
})

describe('messages', () => {
  test('are sent as by an app, advanced, received and listed', async () => {
    const { run, receiver } = await both()
    const sent = await run(
      'messages',
      'send',
      '--to',
      '+4915112345678',
      '--template',
      'order_shipped',
      '--json',
    )
    const { status, body } = JSON.parse(sent.out)
    expect([sent.code, status]).toEqual([0, 202])
    expect((await run('messages', 'advance', body.id, 'read')).out).toMatch(
      /is read\. .*message\.read, a guess/,
    )
    expect((await run('messages', 'advance', body.id, 'lost')).code).toBe(2)
    expect((await run('messages', 'advance', 'msg_none', 'read')).code).toBe(1)
    expect((await run('messages', 'receive', 'Where is it?')).code).toBe(0)
    const { out } = await run('messages')
    expect(out).toMatch(/^received .*Where is it\?.*\nread .*order_shipped/)
    await run('wait', '--idle')
    expect(receiver.handled.map(one => one.type)).toEqual(['message.read', 'message.received'])
    expect((await run('list', '--message', body.id)).out).toMatch(/^acknowledged +message\.read /m)
    const refused = await run('messages', 'send', '--to', 'nobody', '--template', 'x')
    expect([refused.code, refused.out]).toEqual([1, expect.stringMatching(/^400 .*leading \+/)])
  })
})

describe('faults, the clock, settings and statistics', () => {
  test('faults are set, shown and cleared', async () => {
    const { run } = await both()
    expect((await run('faults', 'set', 'duplicate', 'delay=2s', 'lostReply=0.1')).out).toBe(
      'duplicate  always\ndelay      2s\nlostReply  0.1\n',
    )
    expect(JSON.parse((await run('faults', '--json')).out)).toEqual({
      duplicate: true,
      delay: '2s',
      lostReply: 0.1,
    })
    expect((await run('faults', 'set', 'gremlins')).err).toMatch(/gremlins.*frozenTimestamp.*answerNext\./)
    expect((await run('faults', 'clear')).out).toContain('No faults are set')
    expect((await run('faults', 'set', '--preset', 'down', 'duplicate=0.1')).out).toBe(
      'answer     reset\nduplicate  0.1\n',
    )
    expect((await run('faults', 'set', '--preset', 'broken')).err).toMatch(/must be one of flaky, slow, down/)
    expect(await run('faults', 'set')).toMatchObject({ code: 2, err: expect.stringContaining('--preset') })
  })

  test("an answer that replaces the app's applies to the next attempts, and is shown with each", async () => {
    const { run, receiver } = await both('--min-delay', '1ms')
    expect((await run('faults', 'set', 'answer=503', 'answerNext=1')).out).toBe(
      'answer      503\nanswerNext  1\n',
    )
    await run('send', 'conversation.resolved', '--id', 'evt_1', '--no-wait')
    await run('wait', '--idle')
    expect(receiver.handled).toHaveLength(1)
    expect((await run('show', 'evt_1')).out).toMatch(
      /^attempt 1 .* 503, injected fault: answered\n[\s\S]*^attempt 2 .* 202 accepted$/m,
    )
    expect((await run('faults')).out).toContain('No faults are set')
    expect(await run('faults', 'set', 'answer=soon')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/faults\.answer.*'timeout' or 'reset'; got soon/),
    })
  })

  test('a saved request can be verified, and sent to another app', async () => {
    const { run } = await both()
    await run('send', 'a.b', '--id', 'evt_1')
    const folder = mkdtempSync(join(tmpdir(), 'ackhook-save-'))
    stops.push(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'delivery.json')
    expect(await run('show', 'evt_1', '--save', file)).toMatchObject({ code: 0, out: '' })
    expect(await runCli(['verify', file])).toMatchObject({ code: 0, out: expect.stringContaining('✓') })
    const other = await receiverWith()
    const sent = await runCli(['send', '--from-file', file, '--to', other.url])
    expect(sent).toMatchObject({ code: 0, out: expect.stringContaining('202 accepted') })
    expect(other.handled.map(({ id }) => id)).toEqual(['evt_1'])
    const mixed = await runCli(['send', 'a.b', '--from-file', file, '--to', other.url])
    expect(mixed).toMatchObject({ code: 2, err: expect.stringContaining('--from-file') })
  })

  test('advancing the clock starts the attempts that fall due', async () => {
    const { run } = await startEmulator(['--to', await brokenReceiver()])
    await run('send', 'a.b', '--id', 'evt_1')
    const before = Date.parse((await run('clock')).out.trim())
    const { now } = JSON.parse((await run('clock', 'advance', '10m', '--json')).out)
    expect(Date.parse(now) - before).toBeGreaterThanOrEqual(600_000)
    expect(JSON.parse((await run('show', 'evt_1', '--json')).out).attempts).toBeGreaterThan(2)
    expect((await run('clock', 'advance', 'soon')).code).toBe(2)
  })

  test('refusals after advancing the clock are blamed on the clock, with reset as the fix', async () => {
    const { run } = await both()
    expect((await run('clock', 'advance', '4m')).err).toBe('')
    expect((await run('clock', 'advance', '1h')).err).toMatch(/clock is 64 minutes ahead.*emulator reset/)
    const { code, out } = await run('send', 'a.b')
    expect([code, out]).toEqual([1, expect.stringMatching(/clock is 64 minutes ahead/)])
    expect(out).not.toContain('The secret:')
    expect((await run('reset')).code).toBe(0)
    expect((await run('send', 'a.b')).code).toBe(0)
  })

  test('retry starts the next attempt now, and waits for its reply', async () => {
    const { run } = await startEmulator(['--to', await brokenReceiver(), '--min-delay', '1h'])
    await run('send', 'a.b', '--id', 'evt_1')
    expect(await run('retry', 'evt_1')).toMatchObject({
      code: 1,
      out: expect.stringContaining('(attempt 2)'),
    })
    await run('discard', 'evt_1', '--yes')
    expect(await run('retry', 'evt_1')).toMatchObject({ code: 1, err: expect.stringContaining('replay it') })
  })

  test('settings mark unpublished values, and statistics count deliveries by outcome', async () => {
    const { run } = await both()
    expect((await run('settings')).out).toMatch(
      /^Published\n {2}delivery\.header[\s\S]*Not published[\s\S]*limits\.eventBytes +256 KiB[\s\S]*Of the emulator itself\n[\s\S]*retention\.age +7 d/,
    )
    await run('send', 'a.b', '--repeat', '2')
    expect((await run('stats', '--buckets', '1')).out).toMatch(/^FROM +ACKNOWLEDGED +ALL\n\S+Z +2 +2\n$/)
    expect((await run('stats', '--type', 'c.d')).out).toContain('No deliveries from')
  })

  test.each([
    [80, true],
    [120, true],
    [120, false],
  ])(
    'in %i columns, lists and statistics have a header, one row each, local times (colors: %s)',
    async (columns, colors) => {
      const { url, run } = await both()
      await run('send', 'conversation.resolved', '--repeat', '2', '--fault', 'lostReply')
      await run('send', 'conversation.resolved', '--fault', 'duplicate')
      await run('wait', '--kind', 'duplicate', '--state', 'acknowledged')
      for (const [verb, rows] of [
        ['list', 4],
        ['stats', 1],
      ] as const) {
        const terminal = fakeTerminal({ columns, colors })
        await runCommand(['emulator', verb, '--at', url], terminal)
        expect(terminal.printed).toHaveLength(rows + 1)
        const plain = terminal.printed.map(line => stripVTControlCharacters(line))
        expect(plain.filter(line => line.length > columns)).toEqual([])
        expect(plain[0]).toMatch(/^(STATE|FROM) /)
        expect(plain.slice(1).filter(line => !/ ?\d\d:\d\d:\d\d/.test(line))).toEqual([])
        expect(plain.join()).not.toMatch(/\d{4}-\d\d-\d\dT/)
        expect(terminal.printed.join() !== plain.join()).toBe(colors)
      }
    },
  )

  test('in a terminal of 80 columns, no line is longer', async () => {
    const { url, run } = await both()
    await run('send', 'conversation.resolved', '--fault', 'lostReply')
    await run('messages', 'receive', 'Where is it?')
    for (const verb of [
      'list',
      'undelivered',
      'endpoint',
      'workspaces',
      'messages',
      'settings',
      'faults',
      'stats',
    ]) {
      const terminal = { ...fakeTerminal(), columns: 80 }
      await runCommand(['emulator', verb, '--at', url], terminal)
      expect(terminal.printed.flatMap(text => text.split('\n')).filter(line => line.length > 80)).toEqual([])
    }
  })
})

test('the documentation lists every verb with its arguments, and no other', () => {
  const page = readFileSync(new URL('../../../docs/reference/the-emulator.md', import.meta.url), 'utf8')
  const [, section = ''] = /## The command line\n([\s\S]*?)\n## /.exec(page) ?? []
  const listed = [...section.matchAll(/^\| `([^`…]+)` \|/gm)].map(([, verb]) => verb)
  const verbs = Object.values(VERBS).flat()
  expect(listed).toEqual(verbs.map(({ name, args = [] }) => [name, ...args.map(([arg]) => arg)].join(' ')))
})

describe('wait and reset', () => {
  test('wait ends with 0 once enough events match, and with 1 if the timeout expires', async () => {
    const { run } = await both()
    const waiting = run('wait', '--type', 'a.b', '--state', 'acknowledged', '--count', '2', '--json')
    await run('send', 'a.b', '--repeat', '2')
    const { code, out } = await waiting
    expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ met: true, count: 2 })])
    const inVain = await run('wait', '--type', 'c.d', '--timeout', '100ms')
    expect([inVain.code, inVain.out]).toEqual([1, '✗ 0 events match after 100ms\n'])
    expect((await run('wait')).out).toMatch(/^✓ nothing is pending/)
  })

  test('reset empties the log', async () => {
    const { run } = await both()
    await run('send', 'a.b')
    expect(await run('reset')).toMatchObject({ code: 0, out: 'The log is empty.\n' })
    expect((await run('list')).out).toBe('No deliveries.\n')
    expect(JSON.parse((await run('reset', '--everything', '--json')).out)).toEqual({
      reset: true,
      everything: true,
    })
    expect((await run('send', 'a.b')).out).toContain('202 accepted')
  })

  test('reset does not prompt on a terminal either, as its page says', async () => {
    const { url } = await startEmulator()
    const terminal = fakeTerminal({ sure: false })
    expect(await runCommand(['emulator', 'reset', '--everything', '--at', url], terminal)).toBe(0)
    expect(terminal.asked).toEqual([])
    const page = readFileSync(new URL('../../../docs/reference/the-emulator.md', import.meta.url), 'utf8')
    const asking = Object.values(VERBS)
      .flat()
      .filter(one => one.options?.includes(withYes) && one.name !== 'replay')
      .map(one => `\`${one.name}\``)
    expect(page.replace(/\s+/g, ' ')).toContain(
      `${asking.join(', ').replace(/, (?=[^,]*$)/, ' and ')} always ask`,
    )
  })

  test.each(NEED_AN_EMULATOR)(
    '%s ends with 2 and says how to start an emulator if none is running',
    async args => {
      const at = `http://127.0.0.1:${await freePort()}`
      const { code, err } = await runHere([...args.split(' '), '--at', at, '--json'])
      expect(code).toBe(2)
      expect(JSON.parse(err).error).toContain('ackhook emulator start')
    },
  )
})
