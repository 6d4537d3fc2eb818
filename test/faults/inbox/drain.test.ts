import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { inFull } from '../../support/in-full.ts'
import { until } from '../../support/until.ts'
import { createPlatform } from './platform.ts'
import { type Mode, startReceiver } from './receiver-process.ts'
import { createWorkspace, scaled } from './workspace.ts'

const DRAIN_MS = 10_000

/** Streams events in, sends SIGTERM, and starts another process for the remaining events. */
async function terminateUnderLoad(mode: Mode) {
  const space = createWorkspace()
  const platform = createPlatform()
  // 400 events of 30 ms, eight at a time, take 1.5 s: no inbox could drain more in time.
  const settings = { mode, ...space, workMs: 30, options: { concurrency: 8, capacity: 400 } }
  const first = await startReceiver(settings)
  let sending = true
  let count = 0
  const senders = Array.from({ length: 16 }, async () => {
    while (sending) await platform.once(first.url, `evt_${mode}_${count++}`)
  })
  await sleep(700)
  const signalledAt = performance.now()
  first.signal('SIGTERM')
  const code = await first.exited
  const tookMs = performance.now() - signalledAt
  sending = false
  await Promise.all(senders)
  const next = await startReceiver(settings)
  await until('the remaining events are handled', async () => {
    const { pending, active } = await next.ask<{ pending: number; active: number }>('stats')
    return pending + active === 0
  })
  next.signal('SIGTERM')
  await next.exited
  platform.stop()
  const ledger = space.read()
  space.remove()
  return { platform, ledger, code, tookMs }
}

describe('SIGTERM under load, with a drain of 10 seconds', { timeout: 900_000 }, () => {
  for (const mode of inFull<readonly Mode[]>(['sqlite', 'memory', 'after'], ['sqlite'])) {
    it(`loses nothing, acknowledges nothing that arrives later, and ends in time: ${mode}`, async () => {
      for (let round = 0; round < scaled(10, 1); round++) {
        const { platform, ledger, code, tookMs } = await terminateUnderLoad(mode)
        expect(code).toBe(0)
        expect(tookMs).toBeLessThan(DRAIN_MS + 2000)
        expect(platform.acked.size).toBeGreaterThan(10)
        expect([...platform.acked].filter(id => !ledger.done.has(id))).toEqual([])
        // The ledger's first drain is that of the process under load.
        const drainingAt = ledger.drainingAt ?? 0
        const late = platform.attempts.filter(({ startedAt }) => startedAt > drainingAt + 1)
        expect(late.filter(({ status }) => status !== undefined && status < 300)).toEqual([])
      }
    })
  }
})
