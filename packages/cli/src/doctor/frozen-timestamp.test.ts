import { expect, it } from 'vitest'
import { type Judged, nameFrozen } from './frozen-timestamp.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const MINUTE_MS = 60_000
const OFF = [{ cause: 'clock-off', proven: true, text: '' }]

/** Returns a judged delivery: when it arrived, its `t` and its time of creation, in minutes from now. */
function judged(id: string, at: { arrived: number; t: number; created: number }): Judged {
  const verified = Math.abs(at.arrived - at.t) <= 5
  const time = (minutes: number) => NOW + minutes * MINUTE_MS
  const body = JSON.stringify({ id, created_at: new Date(time(at.created)).toISOString() })
  return {
    id,
    header: 'x-service-signature',
    verified,
    code: verified ? 'accepted' : 'timestamp_too_old',
    findings: verified ? [] : OFF,
    delivery: {
      method: 'POST',
      url: '/',
      headers: [['X-Service-Signature', `t=${time(at.t) / 1000},v1=00`]],
      body: new TextEncoder().encode(body),
      receivedAt: time(at.arrived),
    },
  }
}
const fresh = judged('evt_1', { arrived: 30, t: 30, created: 30 })
const causes = (all: readonly Judged[]) => nameFrozen(all).map(one => one.findings[0]?.cause)

it('a `t` as old as its event is frozen if another delivery of the time verifies', () => {
  const late = judged('evt_2', { arrived: 40, t: 0, created: 0 })
  expect(causes([fresh, late])).toEqual([undefined, 'timestamp-frozen'])
  expect(nameFrozen([fresh, late])[1]?.findings[0]?.text).toContain("tolerance: '3d'")
})

it('a `t` that came with the event before is frozen', () => {
  const at = { t: 10, created: 0 }
  const all = [judged('evt_2', { ...at, arrived: 10 }), fresh, judged('evt_2', { ...at, arrived: 40 })]
  expect(causes(all)).toEqual([undefined, undefined, 'timestamp-frozen'])
})

it('it is the clock if nothing verifies at the time, or if `t` is neither', () => {
  const late = judged('evt_2', { arrived: 40, t: 0, created: 0 })
  expect(causes([late, judged('evt_3', { arrived: 41, t: 1, created: 1 })])).toEqual([
    'clock-off',
    'clock-off',
  ])
  expect(causes([judged('evt_1', { arrived: 300, t: 300, created: 300 }), late])[1]).toBe('clock-off')
  expect(causes([fresh, judged('evt_2', { arrived: 40, t: 10, created: 0 })])[1]).toBe('clock-off')
})
