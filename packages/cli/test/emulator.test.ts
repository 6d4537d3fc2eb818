import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { freePort } from '../../../test/support/free-port.ts'
import { emulatorCommand } from '../src/emulator/emulator-command.ts'
import { run } from '../src/run.ts'
import { fakeTerminal } from './fake-terminal.ts'
import { type ReceivingServer, startReceiver } from './receiving-server.ts'
import { type CliOptions, type CliResult, type RunningCli, SECRET, startCli } from './run-cli.ts'

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

interface Started {
  readonly url: string
  readonly process: RunningCli
  readonly ready: { readonly ready: string; readonly health: string; readonly secret: string | null }
  /** Another command on this emulator. */
  run(...args: string[]): Promise<CliResult>
}

async function startEmulator(args: string[] = [], options: CliOptions = {}): Promise<Started> {
  const process = startCli(['emulator', 'start', '--port', '0', '--json', ...args], options)
  stops.push(() => process.child.kill('SIGKILL') && process.ended)
  const ready = JSON.parse(await process.line(/"ready"/))
  const run = (...rest: string[]) => runHere([...rest, '--at', ready.ready], options.env)
  return { url: ready.ready, process, ready, run }
}

async function receiverWith(secret = SECRET): Promise<ReceivingServer> {
  const receiver = await startReceiver(secret)
  stops.push(() => receiver.close())
  return receiver
}

/** The command in this process, which is faster than one of its own. */
async function runHere(args: readonly string[], env: CliOptions['env'] = {}): Promise<CliResult> {
  const terminal = fakeTerminal({ env })
  const code = await run(['emulator', ...args], terminal)
  const text = (lines: readonly string[]) => lines.map(line => `${line}\n`).join('')
  return { code, out: text(terminal.printed), err: text(terminal.complained) }
}

/** An emulator that sends to a receiver. */
async function both(...args: string[]) {
  const receiver = await receiverWith()
  return { receiver, ...(await startEmulator(['--to', receiver.url, ...args])) }
}

/** Answers every request with 500. */
async function brokenReceiver(): Promise<string> {
  const server = createServer((request, response) =>
    request.resume().on('end', () => response.writeHead(500).end()),
  )
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  stops.push(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

describe('start', () => {
  test('without any configuration it prints a secret once, and is ready', async () => {
    const port = await freePort()
    const to = `http://127.0.0.1:${port}/webhooks`
    const process = startCli(['emulator', 'start', '--port', '0', '--to', to], { env: {} })
    stops.push(() => process.child.kill('SIGKILL') && process.ended)
    await process.line(/^Ready at http:\/\/127\.0\.0\.1:\d+, sending to /)
    expect(await process.line(/export SIGNING_SECRET=/)).toMatch(/SIGNING_SECRET=whsec_[\w-]{32}$/)
    // The command that it suggests finds this emulator, whatever its port.
    const [, ...suggested] = (await process.line(/ emulator send /)).trim().split(' ')
    expect(await run(suggested.slice(1), fakeTerminal())).toBe(1)
  })

  test('ends with 0 on SIGTERM and on Ctrl-C', async () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const { process } = await startEmulator()
      process.child.kill(signal)
      expect(await process.ended).toMatchObject({ code: 0, err: '' })
    }
  })

  test('has a health route for CI', async () => {
    const { ready } = await startEmulator()
    const health = await fetch(ready.health)
    expect([health.status, await health.json()]).toEqual([200, expect.objectContaining({ status: 'ready' })])
  })

  test('signs with the secret of the environment, and does not print it', async () => {
    const { process, run, receiver, ready } = await both()
    expect(ready.secret).toBeNull()
    expect((await run('send', 'conversation.resolved')).code).toBe(0)
    expect(receiver.handled).toHaveLength(1)
    const line = await process.line(/"delivery"/)
    expect(JSON.parse(line).delivery).toMatchObject({ state: 'acknowledged', lastStatus: 202 })
    process.child.kill('SIGTERM')
    expect((await process.ended).out).not.toContain(SECRET)
  })

  test('keeps its log and its secret in a file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ackhook-emulator-cli-'))
    stops.push(() => rmSync(folder, { recursive: true, force: true }))
    const broken = await brokenReceiver()
    const first = await startEmulator(['--to', broken, '--data', 'emulator.db'], { env: {}, cwd: folder })
    expect(first.ready.secret).toMatch(/^whsec_/)
    await first.run('send', 'conversation.resolved', '--id', 'evt_kept', '--no-wait')
    first.process.child.kill('SIGTERM')
    await first.process.ended
    const second = await startEmulator(['--to', broken, '--data', 'emulator.db'], { env: {}, cwd: folder })
    expect(second.ready.secret).toBeNull()
    expect((await second.run('list')).out).toContain('evt_kept')
  })

  test.each<[string, string[], RegExp]>([
    ['another host as a receiver', ['--to', 'http://app:3000/webhooks'], /--to leads to app.*--allow-target/],
    ['a network address without a token', ['--host', '0.0.0.0'], /--host.*ACKHOOK_EMULATOR_TOKEN/],
    ['plain HTTP', ['--to', 'http://127.0.0.1:1/', '--https-only'], /https:\/\//],
    ['a fault that does not exist', ['--fault', 'gremlins'], /gremlins/],
    ['a chance that is none', ['--fault', 'duplicate=7'], /duplicate/],
    ['a port that is none', ['--port', '70000'], /port/],
  ])('ends with 2 at %s, and says how to put it right', async (_, args, message) => {
    const { code, err } = await runHere(['start', '--port', '0', ...args])
    expect(code).toBe(2)
    expect(err).toMatch(message)
  })

  test('ends with 2 when the port is in use', async () => {
    const { url } = await startEmulator()
    const { code, err } = await runHere(['start', '--port', new URL(url).port])
    expect([code, err]).toEqual([2, expect.stringMatching(/--port: \d+ is in use/)])
  })

  test('asks for its token, which every command takes from the environment', async () => {
    const env = { ACKHOOK_EMULATOR_TOKEN: 'a-token-for-this-test' }
    const { url, run } = await startEmulator([], { env })
    expect((await run('list')).code).toBe(0)
    const without = await runHere(['list', '--at', url])
    expect([without.code, without.err]).toEqual([2, expect.stringContaining('ACKHOOK_EMULATOR_TOKEN')])
  })
})

describe('send', () => {
  test('waits for the reply, and ends with 0 when it acknowledged', async () => {
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

  test('with --no-wait hands over more than one call takes, and ends at once', async () => {
    const { run } = await both()
    const { code, out } = await run('send', 'a.b', '--repeat', '510', '--no-wait', '--json')
    const { sent, deliveries } = JSON.parse(out)
    expect([code, sent]).toEqual([0, 510])
    expect(new Set(deliveries.map((one: { event: string }) => one.event)).size).toBe(510)
  })

  test('ends with 1 when no reply comes for the timeout, and shows what is pending', async () => {
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

  test('ends with 1 and advice when the receiver refuses', async () => {
    const receiver = await receiverWith('whsec_another-secret-0123')
    const { run } = await startEmulator(['--to', receiver.url])
    const { code, out } = await run('send', 'conversation.resolved')
    expect(code).toBe(1)
    expect(out).toMatch(/401 unauthorized, again at 2[\s\S]*The secret/)
  })

  test('ends with 1 when there is no receiver', async () => {
    const { run } = await startEmulator()
    const { code, out } = await run('send', 'conversation.resolved')
    expect(code).toBe(1)
    expect(out).toMatch(/has no endpoint[\s\S]*start --to <url>/)
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
  test('what could not be delivered is listed with exit code 1, replayed, and gone', async () => {
    const port = await freePort()
    const to = `http://127.0.0.1:${port}/webhooks`
    const { run } = await startEmulator(['--to', to, '--attempts', '1'])
    await run('send', 'a.b', '--repeat', '3')
    const { code, out } = await run('undelivered')
    expect([code, out.trim().split('\n')]).toEqual([
      1,
      Array(3).fill(expect.stringContaining('ECONNREFUSED')),
    ])
    expect((await run('replay', '--all', '--dry-run')).out).toBe('3 would be replayed\n')
    const replayed = await run('replay', '--all', '--json')
    expect([replayed.code, JSON.parse(replayed.out)]).toEqual([0, { matched: 3, replayed: 3 }])
    expect((await run('wait', '--idle')).code).toBe(0)
    expect((await run('undelivered', '--json')).code).toBe(1)
    const refused = await run('undelivered', '--discard', '--all')
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('--yes')])
    expect((await run('undelivered', '--discard', '--all', '--yes')).out).toBe('3 discarded\n')
    expect(await run('undelivered')).toMatchObject({ code: 0, out: 'No deliveries.\n' })
  })

  test('replay sends the same event again, its very request, or an edited one', async () => {
    const { run, receiver } = await both()
    await run('send', 'conversation.resolved', '--id', 'evt_1')
    expect((await run('replay', 'evt_1')).out).toContain('200 duplicate')
    expect((await run('replay', 'evt_1', '--exact')).out).toContain('200 duplicate')
    expect((await run('replay', 'evt_1', '--data', '{"conversation_id":"cnv_2"}')).out).toContain(
      '202 accepted',
    )
    await expect.poll(() => receiver.handled.map(one => one.data['conversation_id'])).toContain('cnv_2')
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
    expect([codes, bars, terminal.printed]).toEqual([[0], [{ total: 250, advanced: 250 }], ['250 replayed']])
  })

  test.each([
    [['replay']],
    [['replay', 'evt_1', '--all']],
    [['replay', '--all', '--exact']],
    [['undelivered', 'evt_1']],
    [['undelivered', '--discard']],
  ])('refuses %j with exit code 2', async args => {
    const { run } = await startEmulator()
    expect((await run(...args)).code).toBe(2)
  })
})

describe('wait and reset', () => {
  test('wait ends with 0 once enough events match, and with 1 when the time is up', async () => {
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

  test.each(['send a.b', 'list', 'show evt_1', 'replay --all', 'undelivered', 'wait', 'reset'])(
    '%s ends with 2 and says how to start an emulator when none runs',
    async args => {
      const at = `http://127.0.0.1:${await freePort()}`
      const { code, err } = await runHere([...args.split(' '), '--at', at, '--json'])
      expect(code).toBe(2)
      expect(JSON.parse(err).error).toContain('ackhook emulator start')
    },
  )
})
