import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { itInFull } from '../../../test/support/in-full.ts'

// The child is plain Node and runs the built files. Each event is 190 KB; one character beyond Latin-1 doubles it in
// memory once it is parsed.
const script = `
  import { createHmac } from 'node:crypto'
  import { createReceiver } from '${new URL('../dist/index.js', import.meta.url)}'
  const secret = 'whsec_0123456789abcdef'
  const lines = []
  const write = level => ({ code }, message) => lines.push(level + ' ' + code + ' ' + message)
  const receiver = createReceiver({ secret, logger: { info() {}, warn: write('warn'), error: write('error') } })
  receiver.on('*', () => new Promise(() => {}))
  const counts = {}
  for (let i = 0; i < 500; i++) {
    const data = { text: '😀' + 'x'.repeat(190_000) }
    const body = JSON.stringify({ id: 'evt_' + i, type: 'a.b', created_at: '2026-01-01T00:00:00Z', data })
    const t = Math.floor(Date.now() / 1000)
    const v1 = createHmac('sha256', secret).update(t + '.' + body).digest('hex')
    const headers = { 'x-service-signature': 't=' + t + ',v1=' + v1 }
    const { status } = await receiver.handle({ method: 'POST', headers, body: new Uint8Array(Buffer.from(body)) })
    counts[status] = (counts[status] ?? 0) + 1
    await new Promise(resolve => setImmediate(resolve))
  }
  const { pending, active } = await receiver.stats()
  console.log(JSON.stringify({ counts, waiting: pending + active, line: lines[0] }))
  process.exit(0)`

it('a process with a small heap refuses large events and stays alive, however many events wait', () => {
  const flags = ['--max-old-space-size=96', '--input-type=module', '-e', script]
  const { stdout, stderr, status } = spawnSync(process.execPath, flags, {
    encoding: 'utf8',
    timeout: 170_000,
  })
  expect([status, stderr]).toEqual([0, ''])
  const { counts, waiting, line } = JSON.parse(stdout)
  // As many events as 64 MiB hold, each with 360 bytes for its values.
  expect(counts).toEqual({ 202: 352, 503: 148 })
  expect(waiting).toBe(352)
  expect(line).toMatch(/^warn capacity_exceeded .+: capacityBytes is reached\. \d+ events wait or run/)
}, 180_000)

// 1 MiB, and as many values as a body may hold, of the kinds that take most memory.
const heavy = `
  import { createHmac } from 'node:crypto'
  import { createReceiver } from '${new URL('../dist/index.js', import.meta.url)}'
  const secret = 'whsec_0123456789abcdef'
  const receiver = createReceiver({ secret, logger: { info() {}, warn() {}, error() {} } })
  const kept = []
  receiver.on('*', event => (kept.push(event), new Promise(() => {})))
  const shapes = {
    objects: () => Array(99_000).fill({}),
    keys: n => Array.from({ length: 49_000 }, (_, i) => ({ ['k' + n + '_' + i]: {} })),
  }
  const bodyOf = n => {
    const event = { id: 'evt_' + n, type: 'a.b', created_at: '2026-01-01T00:00:00Z' }
    const body = JSON.stringify({ ...event, data: { list: shapes[process.argv[1]](n), text: '' } })
    return Buffer.from(body.replace('"text":""', '"text":"' + 'x'.repeat(1_048_576 - body.length) + '"'))
  }
  const memory = () => {
    gc()
    const { rss, heapUsed, arrayBuffers } = process.memoryUsage()
    return { rss, held: heapUsed + arrayBuffers }
  }
  const send = async n => {
    const body = bodyOf(n)
    const t = Math.floor(Date.now() / 1000)
    const v1 = createHmac('sha256', secret).update(t + '.').update(body).digest('hex')
    const headers = { 'x-service-signature': 't=' + t + ',v1=' + v1 }
    return (await receiver.handle({ method: 'POST', headers, body: new Uint8Array(body) })).status
  }
  await receiver.start()
  const before = memory()
  const counts = {}
  for (let n = 0; n < 16; n++) {
    const status = await send(n)
    counts[status] = (counts[status] ?? 0) + 1
    await new Promise(resolve => setImmediate(resolve))
  }
  const after = memory()
  const mb = name => Math.round((after[name] - before[name]) / 1_048_576)
  console.log(JSON.stringify({ counts, running: kept.length, held: mb('held'), rss: mb('rss') }))
  process.exit(0)`

itInFull.each([
  ['objects', 9, 80],
  ['keys', 9, 130],
])(
  '16 running events of 1 MiB, all %s, take about capacityBytes, and the rest is refused',
  (shape, running, most) => {
    const flags = ['--expose-gc', '--input-type=module', '-e', heavy, shape]
    const { stdout, stderr, status } = spawnSync(process.execPath, flags, {
      encoding: 'utf8',
      timeout: 170_000,
    })
    expect([status, stderr]).toEqual([0, ''])
    const found = JSON.parse(stdout)
    expect(found).toMatchObject({ counts: { 202: running, 503: 16 - running }, running })
    expect(found.held).toBeLessThan(most)
  },
)
