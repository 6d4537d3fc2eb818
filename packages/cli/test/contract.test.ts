import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmulator } from '@ackhook/emulator'
import { beforeEach, expect, it, vi } from 'vitest'
import { startReceiver } from './receiving-server.ts'
import { runCli, SECRET } from './run-cli.ts'

let cwd = ''
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'ackhook-contract-'))
})

/** Writes recorded deliveries of one type to a folder. */
function record(folder: string, ...data: readonly object[]): void {
  mkdirSync(join(cwd, folder), { recursive: true })
  for (const [at, one] of data.entries()) {
    const event = { id: `evt_${at}`, type: 'message.read', created_at: '2026-01-01T00:00:00Z', data: one }
    const recording = {
      format: 'ackhook-recording-1',
      receivedAt: '2026-01-01T00:00:01Z',
      kept: 'all',
      event,
    }
    writeFileSync(join(cwd, folder, `${at}.json`), JSON.stringify(recording))
  }
}

it('types prints what was recorded, or writes it to a file', async () => {
  record('recorded', { message_id: 'msg_1' }, { message_id: 'msg_2', by: null })
  const { code, out } = await runCli(['types', 'recorded'], { cwd })
  expect(code).toBe(0)
  expect(out).toMatch(/'message\.read': \{\n.*\n {4}by\?: unknown\n {4}message_id: string\n/)
  expect((await runCli(['types', 'recorded', '--as', 'zod', '--out', 'events.ts'], { cwd })).code).toBe(0)
  expect(readFileSync(join(cwd, 'events.ts'), 'utf8')).toContain("'message.read': z.object({")
})

it('drift names each difference with its fix, and exits with 1', async () => {
  record('known', { message_id: 'msg_1', channel: 'sms' })
  record('recorded', { message_id: 'msg_1', channel_name: 'sms', by: 'anna' })
  const { code, out } = await runCli(['drift', 'known', 'recorded'], { cwd })
  expect(code).toBe(1)
  expect(out).toMatch(/✗ message\.read {2}data\.channel is missing, and channel_name beside it is new/)
  expect(out).toMatch(/contract: \{ upcast: event =>/)
  expect(out).toMatch(/\+ message\.read {2}data\.by is new/)
  expect(out).toContain('2 differences in 1 recorded delivery')
  const breaking = await runCli(['drift', 'known', 'recorded', '--breaking', '--json'], { cwd })
  expect(JSON.parse(breaking.out)).toMatchObject({ recordings: 1, findings: [{ kind: 'renamed-field' }] })
})

it('drift exits with 0 if there is no difference', async () => {
  record('known', { message_id: 'msg_1' })
  const { code, out } = await runCli(['drift', 'known', 'known'], { cwd })
  expect([code, out]).toEqual([0, '✓ no difference in 1 recorded delivery\n'])
})

it('drift compares with the schemas that a module exports', async () => {
  record('recorded', { message_id: 7 })
  const zod = JSON.stringify(import.meta.resolve('zod'))
  const schemas = `import { z } from ${zod}; export const events = { 'message.read': z.object({ message_id: z.string() }) }`
  writeFileSync(join(cwd, 'events.mjs'), schemas)
  const { code, out } = await runCli(['drift', 'events.mjs', 'recorded'], { cwd })
  expect(code).toBe(1)
  expect(out).toContain('data.message_id was a string or time in ISO 8601, and may be a number')
  writeFileSync(join(cwd, 'other.mjs'), 'export const schemas = {}')
  const { code: wrong, err } = await runCli(['drift', 'other.mjs', 'recorded'], { cwd })
  expect([wrong, err]).toEqual([2, expect.stringContaining('other.mjs must export events')])
})

it.each([
  [['types', 'none'], /there is no file or folder .*none/],
  [['drift', 'none.json', 'recorded'], /there is no file or folder .*none\.json/],
  [['drift', 'none.mjs', 'recorded'], /none\.mjs cannot be loaded/],
])('%j exits with 2 and names what cannot be read', async (args, message) => {
  record('recorded', {})
  const { code, err } = await runCli(args, { cwd })
  expect([code, err]).toEqual([2, expect.stringMatching(message)])
})

it('a recorded delivery is sent, replayed and played by the emulator, signed anew', async () => {
  record('recorded', { message_id: 'msg_1' }, { message_id: 'msg_2', by: null })
  const app = await startReceiver(SECRET)
  const emulator = await startEmulator({ to: app.url, secret: SECRET, port: 0 })
  const sent = await runCli(['send', '--from-file', 'recorded/0.json', '--to', app.url], { cwd })
  expect(sent).toMatchObject({ code: 0, err: '' })
  const replayed = await runCli(['replay', 'recorded', '--to', app.url, '--resign'], { cwd })
  expect(replayed).toMatchObject({ code: 0, out: expect.stringContaining('duplicate') })
  const played = await runCli(
    ['emulator', 'send', '--from-file', 'recorded', '--at', emulator.url, '--json'],
    {
      cwd,
    },
  )
  expect([played.code, JSON.parse(played.out).sent]).toEqual([0, 2])
  await vi.waitFor(() => expect(app.handled).toHaveLength(4))
  expect(app.handled.map(one => one.data['message_id'])).toEqual(['msg_1', 'msg_2', 'msg_1', 'msg_2'])
  for (const args of [['--from-file', 'recorded', 'a.b'], []]) {
    const { code, err } = await runCli(['emulator', 'send', ...args, '--at', emulator.url], { cwd })
    expect([code, err]).toEqual([2, expect.stringContaining('--from-file')])
  }
  await emulator.close()
  await app.close()
})
