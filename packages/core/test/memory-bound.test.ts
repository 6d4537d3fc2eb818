import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'

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
  // As many events as 64 MiB hold.
  expect(counts).toEqual({ 202: 353, 503: 147 })
  expect(waiting).toBe(353)
  expect(line).toMatch(/^warn capacity_exceeded .+: capacityBytes is reached\. \d+ events wait or run/)
}, 180_000)
