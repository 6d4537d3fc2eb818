import { AckhookError } from '../../errors/errors.ts'
import { formatMs } from '../../lib/duration.ts'
import type { Route } from '../presence.ts'

const MIN_DELAY_MS = 100
const MAX_DELAY_MS = 5000
/** Maximum delay while a process with the handler runs. It is shorter because any process may take a due event. */
const MAX_LIVE_DELAY_MS = 2000
/**
 * Base of a routing token, which combines the number of waits with the awaited rank. A dead letter's token has no
 * waits.
 */
const RANKS = 8
/** Token of one wait, for no known handler. */
export const FIRST_TOKEN: number = RANKS

/** Facts that decide whether an attempt may begin here. */
export interface Situation {
  readonly type: string
  /** Specificity with which this process handles the type. */
  readonly own: number
  /** Specificity of the best of the other expected processes. */
  readonly best: number
  /** Token from the event's last wait. */
  readonly routingToken: number
  /** True if a process of that specificity runs now. */
  readonly isLive: boolean
  /** True if one more event may be postponed. */
  readonly hasRoom: boolean
  readonly keepMs: number
}

/**
 * Decides whether an event waits for a process that handles its type more specifically. Returns `undefined` if it runs
 * here. An event that has waited never runs on a less specific handler than the one it waited for.
 */
export function decideRoute(situation: Situation): Route | undefined {
  const { type, own, best, routingToken, isLive, hasRoom, keepMs } = situation
  const awaited = routingToken % RANKS
  const needed = Math.max(best, awaited)
  if (own >= needed) return undefined
  if (best < awaited)
    return missing(
      needed,
      `no process that handles '${type}' was seen here for ${formatMs(keepMs)} (option handlerWait)`,
    )
  if (routingToken < FIRST_TOKEN && !hasRoom)
    return missing(
      needed,
      `too many events already wait for other processes, including '${type}' (the limit is a tenth of capacity)`,
    )
  const waits = Math.floor(routingToken / RANKS)
  return { outcome: 'postponed', delayMs: delayMs(waits, isLive), routingToken: (waits + 1) * RANKS + needed }
}

function missing(routingToken: number, reason: string): Route {
  const message = `Redrive the event once a process with its handler runs: ${reason}.`
  return { outcome: 'dead', error: new AckhookError('handler_missing', message), routingToken }
}

/** Returns a delay whose upper half is random, so that events postponed together do not come back together. */
function delayMs(waits: number, isLive: boolean): number {
  const full = Math.min(isLive ? MAX_LIVE_DELAY_MS : MAX_DELAY_MS, MIN_DELAY_MS * 2 ** waits)
  return Math.max(MIN_DELAY_MS, Math.round(full / 2 + (Math.random() * full) / 2))
}
