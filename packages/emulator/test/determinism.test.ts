import { fakeClock } from '@ackhook/testing'
import { expect, test } from 'vitest'
import { type EmulatorFaults, startEmulator } from '../src/index.ts'
import { serve } from './set-up.ts'

const faults: EmulatorFaults = {
  duplicate: 0.3,
  concurrentDuplicate: 0.2,
  disorder: 0.4,
  delay: '3s',
  tamper: 0.2,
  staleTimestamp: 0.2,
  lostReply: 0.2,
}

/** Returns a run's decisions, without ids, which are always new. */
async function decisions(seed: number, concurrency: number): Promise<string> {
  // The reply depends only on the event, whatever the order.
  const url = await serve((request, response) => {
    let body = ''
    request.on('data', part => {
      body += part
    })
    request.on('end', () =>
      setTimeout(
        () => response.writeHead(/"n":[^,}]*[05]\b/.test(body) ? 503 : 202).end(),
        Math.random() * 4,
      ),
    )
  })
  const clock = fakeClock('2026-03-01T12:00:00Z')
  const emulator = await startEmulator({
    port: 0,
    seed,
    clock,
    to: url,
    faults,
    delivery: { concurrency, attempts: 4 },
  })
  try {
    for (let call = 0; call < 3; call++) {
      await emulator.api.sendAll(
        Array.from({ length: 10 }, (_, n) => ({ type: 'call.started', data: { n: call * 10 + n } })),
      )
    }
    await emulator.api.clock.advance('2d')
    const { deliveries } = await emulator.api.deliveries.list({}, { limit: 200 })
    const details = await Promise.all(deliveries.map(one => emulator.api.deliveries.get(one.id)))
    const lines = details.map(one => {
      const { n } = JSON.parse(one.body.text).data
      const log = one.log.map(each => `${each.at} ${each.status} ${each.faults.join('+')} ${each.error}`)
      return `${String(n).padStart(2)} ${one.kind} ${one.state} ${log.join('; ')}`
    })
    return lines.sort().join('\n')
  } finally {
    await emulator.close()
  }
}

test('the same seed, calls and replies give the same attempts, faults and schedule', async () => {
  const first = await decisions(42, 8)
  expect(first.split('\n').length).toBeGreaterThan(30)
  for (const fault of ['tampered', 'stale_timestamp', 'lost_reply', 'duplicate', 'undelivered'])
    expect(first).toContain(fault)
  expect(await decisions(42, 8)).toBe(first)
  expect(await decisions(43, 8)).not.toBe(first)
})
