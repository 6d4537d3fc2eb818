import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createReceiver, NonRetryableError } from '@ackhook/core'
import { sqliteInbox } from '@ackhook/sqlite'
import { createEvent, signedRequest } from '@ackhook/testing'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { run } from '../src/run.ts'
import { fakeTerminal } from './fake-terminal.ts'
import { type CliResult, OTHER_SECRET, runCli, SECRET, startCli } from './run-cli.ts'

/** Clears the screen, links elsewhere, begins a C1 sequence, turns the direction, hides, breaks the line. */
const HOSTILE =
  '\u001b[2J\u001b]8;;https://evil.example\u0007x\u001b]8;;\u0007\u009b31m\u202e\u200b\u2028\u0085\u007f\0\r'
/** What a terminal must never get. */
const CONTROL =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/

let folder: string
let evil: string
const closing: (() => unknown)[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ackhook-hostile-'))
  const server = createServer((request, response) => {
    const reply = JSON.stringify({ code: HOSTILE, message: HOSTILE, error: HOSTILE })
    request.resume().on('end', () => response.writeHead(500, { 'x-more': '\u009b31m' }).end(reply))
  }).listen(0, '127.0.0.1')
  await vi.waitFor(() => expect(server.listening).toBe(true))
  evil = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  closing.push(() => server.close())
  await saveDeliveries()
  await fillInbox()
  await writeFile(join(folder, 'throws.mjs'), `throw new Error(${JSON.stringify(HOSTILE)})`)
  await writeFile(join(folder, 'events.jsonl'), `${HOSTILE}\n{"id":${JSON.stringify(HOSTILE)}}\n`)
})

afterAll(async () => {
  for (const close of closing) await close()
  await rm(folder, { recursive: true })
})

const hostileEvent = {
  ...createEvent('a.b'),
  id: `evt${HOSTILE}`,
  type: `type${HOSTILE}`,
  data: { [HOSTILE]: HOSTILE },
}

async function saveDeliveries(): Promise<void> {
  const body = Buffer.from(JSON.stringify(hostileEvent).replaceAll('\\u001b', '\\u001b')).toString('base64')
  const delivery = { receivedAt: '2026-03-01T12:00:00Z', method: `PO${HOSTILE}`, url: `/${HOSTILE}`, body }
  await mkdir(join(folder, 'saved'))
  const headers = [[`x${HOSTILE}`, `t=1,v1=${HOSTILE}`]]
  await writeFile(join(folder, 'saved', 'a\u001b[2J\u009b.json'), JSON.stringify({ ...delivery, headers }))
  await writeFile(
    join(folder, 'saved', 'b.json'),
    JSON.stringify({ ...delivery, method: 'POST', headers: [] }),
  )
  await writeFile(join(folder, 'broken.json'), HOSTILE)
}

async function fillInbox(): Promise<void> {
  const inbox = sqliteInbox({ path: join(folder, 'inbox.db') })
  const receiver = createReceiver({ secret: SECRET, inbox, logger: { info() {}, warn() {}, error() {} } })
  receiver.on('*', () => {
    throw new NonRetryableError(HOSTILE)
  })
  await receiver.start()
  // A receiver refuses control characters in an id, but not those that hide or turn text.
  const event = { ...hostileEvent, id: 'evt_1', type: 'type\u202e\u200b' }
  const reply = await receiver.handle({ ...signedRequest(event, { secret: SECRET }), context: undefined })
  expect(reply.status).toBe(202)
  await vi.waitFor(async () => expect((await receiver.stats()).dead).toBe(1))
  await receiver.close()
}

function expectHarmless(args: readonly string[], { out, err }: Pick<CliResult, 'out' | 'err'>): void {
  expect(out + err, args.join(' ')).not.toMatch(CONTROL)
  expect(out + err, args.join(' ')).not.toBe('')
}

const ON_INBOX = ['--sqlite', 'inbox.db'] as const

test.each([
  [['verify', 'saved']],
  [['verify', 'broken.json']],
  [['verify', `missing${HOSTILE.replace('\0', '')}`]],
  [['replay', 'saved', '--to', 'EVIL', '--resign']],
  [['send', `type${HOSTILE}`, '--to', 'EVIL']],
  [['send', `type${HOSTILE}`, '--to', 'EVIL', '--dry-run']],
  [['send', 'a.b', '--to', 'EVIL', '--data', HOSTILE]],
  [['send', 'a.b', '--to', `EVIL${HOSTILE}`]],
  [['send', '--from-file', 'saved/b.json', '--to', 'EVIL']],
  [['drift', 'saved', 'broken.json']],
  [['drift', 'saved', 'saved']],
  [['drift', 'throws.mjs', 'saved']],
  [['types', 'saved']],
  [['conformance', '--inbox', 'throws.mjs']],
  [['emulator', 'list', '--at', 'EVIL']],
  [['inbox', 'list', ...ON_INBOX]],
  [['inbox', 'show', 'evt_1', ...ON_INBOX]],
  [['inbox', 'show', `none${HOSTILE}`, ...ON_INBOX]],
  [['inbox', 'stats', ...ON_INBOX]],
  [['inbox', 'redrive', `none${HOSTILE}`, ...ON_INBOX]],
  [['inbox', 'pause', `type${HOSTILE}`, ...ON_INBOX]],
  [['inbox', 'ingest', 'events.jsonl', ...ON_INBOX]],
  [['inbox', 'ingest', 'broken.json', ...ON_INBOX]],
  [['inbox', 'list', '--sqlite', `no${HOSTILE.replace('\0', '')}.db`]],
  [[`no${HOSTILE}`]],
  [['send', `--no${HOSTILE}`]],
])('%j prints no control character of a stranger, as text and as JSON', async given => {
  for (const more of [[], ['--json']]) {
    const args = [...given, ...more].map(arg => arg.replace('EVIL', evil))
    expectHarmless(args, await runCli(args, { cwd: folder }))
    // With colors, only ours.
    const terminal = fakeTerminal({ cwd: folder, env: { SIGNING_SECRET: SECRET }, colors: true, columns: 80 })
    await run(args, terminal)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colors begin with one
    const plain = [...terminal.printed, ...terminal.complained]
      .join('\n')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: colors begin with one
      .replace(/\u001b\[(?:[12]|22|3[1-39])m/g, '')
    expectHarmless(args, { out: plain, err: '' })
  }
})

test('listen shows what anyone sends without its control characters, and not at any length', async () => {
  for (const env of [{ SIGNING_SECRET: SECRET }, {}]) {
    const cli = startCli(['listen', '--port', '0', '--forward', evil, '--save', 'listened'], {
      cwd: folder,
      env,
    })
    const url = new URL((await cli.line(/http:\S+/)).match(/http:[^\s,]+/)?.[0] ?? '')
    const long = JSON.stringify({ ...hostileEvent, id: 'x'.repeat(1_000_000), type: HOSTILE.repeat(1000) })
    for (const body of [JSON.stringify(hostileEvent), long, HOSTILE])
      await fetch(url, { method: 'POST', body })
    await fetch(url, signedRequest(hostileEvent, { secret: OTHER_SECRET }))
    await fetch(url, signedRequest(hostileEvent, { secret: SECRET }))
    const socket = connect(Number(url.port), '127.0.0.1')
    socket.end(
      Buffer.from(
        'POST /\x9b HTTP/1.1\r\nHost: a\r\nx-\x9b: \x9b31m\r\nContent-Length: 2\r\n\r\n{}',
        'latin1',
      ),
    )
    await new Promise(resolve => socket.on('close', resolve).resume())
    cli.stop()
    const ended = await cli.ended
    expectHarmless(['listen'], ended)
    expect(ended.out.length).toBeLessThan(20_000)
  }
})

test('emulator shows a reply and an event without their control characters', async () => {
  const started = startCli(['emulator', 'start', '--port', '0', '--to', evil], {
    env: { SIGNING_SECRET: SECRET },
  })
  const [at = ''] = (await started.line(/^ {2}page/)).match(/http:\S+/) ?? []
  const data = JSON.stringify({ [HOSTILE]: HOSTILE })
  const sent = await runCli(['emulator', 'send', 'a.b', '--data', data, '--id', 'evt_1', '--at', at])
  for (const args of [
    ['list'],
    ['show', 'evt_1'],
    ['events'],
    ['list', '--json'],
    ['show', 'evt_1', '--json'],
    ['stats'],
  ])
    expectHarmless(args, await runCli(['emulator', ...args, '--at', at]))
  expectHarmless(['send'], sent)
  started.stop()
  expectHarmless(['start'], await started.ended)
})
