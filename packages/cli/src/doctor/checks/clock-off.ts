import type { Facts } from '../evidence/facts.ts'
import type { Finding } from '../evidence/finding.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const NEAR_MS = 2 * MINUTE_MS

/** Finds a clock that is wrong. The signature is valid then, as a receiver checks the time last. */
export function clockOff({ delivery, timestampMs, code }: Facts): Finding | undefined {
  if (timestampMs === undefined) return undefined
  if (code !== 'timestamp_too_old' && code !== 'timestamp_too_new') return undefined
  const offMs = delivery.receivedAt - timestampMs
  const off = `${amountOf(Math.abs(offMs))} ${offMs > 0 ? 'ahead of' : 'behind'}`
  return {
    cause: isWholeHours(offMs) ? 'time-zone' : 'clock-off',
    proven: true,
    text: `The signature is valid, but the receiving machine's clock is ${off} the time in the signature. ${adviceFor(offMs)}`,
  }
}

function adviceFor(offMs: number): string {
  if (isWholeHours(offMs)) {
    return 'That is a whole number of hours: some code uses local time as if it were UTC. Compare `date -u` on this machine with the actual time, and check how the sender makes t.'
  }
  const clock = 'Compare `date -u` on that machine with the actual time and enable time synchronization (NTP)'
  if (offMs < 0) return `${clock}.`
  return `${clock}. If the clock is right, the delivery arrived late: it is a replay, or a retry that kept its first timestamp. To accept those, set the option tolerance to the length of the retry window, for example tolerance: '3d' together with retention: '7d'.`
}

function isWholeHours(offMs: number): boolean {
  const ms = Math.abs(offMs)
  const hours = Math.round(ms / HOUR_MS)
  return hours >= 1 && hours <= 14 && Math.abs(ms - hours * HOUR_MS) <= NEAR_MS
}

function amountOf(ms: number): string {
  if (ms < 2 * MINUTE_MS) return `${Math.round(ms / 1000)} seconds`
  if (ms < 2 * HOUR_MS) return `${Math.round(ms / MINUTE_MS)} minutes`
  if (ms < 48 * HOUR_MS) return `${Math.round(ms / HOUR_MS)} hours`
  return `${Math.round(ms / (24 * HOUR_MS))} days`
}
