import { parseTimestamp } from '@ackhook/core/spi'
import { type CapturedRequest, joinHeaders } from '../delivery/captured-request.ts'
import type { Diagnosis } from './diagnose.ts'

/** Other deliveries have verified so close to one that the receiver's clock was right. */
const LATELY_MS = 3_600_000
/** A first attempt follows its event this soon. */
const NEAR_MS = 60_000

/** A saved delivery with its verdict. */
export interface Judged extends Diagnosis {
  readonly delivery: CapturedRequest
  readonly id?: string
  /** Name of the signature header. */
  readonly header: string
}

/**
 * Tells a frozen `t` from a wrong clock, which takes several deliveries: if one verifies at about the same time, the clock is
 * right, and a `t` that is as old as the event, or has come with it before, is the one of a first attempt.
 */
export function nameFrozen<One extends Judged>(all: readonly One[]): readonly One[] {
  return all.map(one => {
    if (one.code !== 'timestamp_too_old' || !isClockRight(one, all)) return one
    const t = timestampOf(one)
    const isAsOld = t.ms !== undefined && Math.abs(t.ms - createdAt(one)) <= NEAR_MS
    const isRepeated = all.some(
      other => other !== one && isEarlier(other, one) && timestampOf(other).text === t.text,
    )
    if (!isAsOld && !isRepeated) return one
    const sign = isRepeated ? 'has come with this event before' : 'is as old as the event'
    const text = `The signature is valid, and its t ${sign}, while other deliveries of that time are recent: so the clock is right, and t is the one of the first attempt, from a sender that does not renew it or from a replay. If your sender does not renew t when it retries, set tolerance to its whole retry window, and retention to twice that: tolerance: '3d', retention: '7d'.`
    return { ...one, findings: [{ cause: 'timestamp-frozen', proven: true, text }] }
  })
}

function isClockRight({ delivery }: Judged, all: readonly Judged[]): boolean {
  return all.some(
    other => other.verified && Math.abs(other.delivery.receivedAt - delivery.receivedAt) <= LATELY_MS,
  )
}

/** Returns whether a delivery brought the same event before. */
function isEarlier(other: Judged, { id, delivery }: Judged): boolean {
  return id !== undefined && other.id === id && other.delivery.receivedAt < delivery.receivedAt
}

function timestampOf({ delivery, header }: Judged): { readonly text?: string; readonly ms?: number } {
  const value = joinHeaders(delivery.headers)[header.toLowerCase()] ?? ''
  const text = /(?:^|,)\s*t=([^,\s]+)/.exec(value)?.[1]
  const ms = text === undefined ? undefined : parseTimestamp(text, 'auto')
  return { ...(text !== undefined && { text }), ...(ms !== undefined && { ms }) }
}

function createdAt({ delivery }: Judged): number {
  try {
    return Date.parse(JSON.parse(new TextDecoder().decode(delivery.body)).created_at)
  } catch {
    return Number.NaN
  }
}
