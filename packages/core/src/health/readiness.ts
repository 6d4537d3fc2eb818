import { DeadlineError, withDeadline } from '../lib/deadline.ts'
import { type InspectedReceiver, inspectReceiver } from '../receiver/inspect.ts'
import type { Receiver } from '../receiver/receiver.ts'

/** State of a receiver: accepting deliveries, or the reason why not. */
export type Readiness = 'ready' | 'never_started' | 'starting' | 'draining' | 'inbox_unavailable'

/** Kubernetes gives a probe one second by default. */
const MAX_WAIT_MS = 800
/** Time for which a result is reused, so that frequent probes do not each query the inbox. */
const KEPT_MS = 500

/** Reply to a probe. */
export interface ProbeReply {
  readonly status: 200 | 400 | 404 | 503
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * Creates a function that responds to a receiver's probes: liveness for a path that ends in `/live`, readiness for one
 * that ends in `/ready`. Any other is a mistake that would go unnoticed: a probe named `liveness` that reports readiness
 * restarts a process because its inbox is down. `readPath` may throw.
 */
export function createProbe(
  receiver: Pick<Receiver<never, never>, 'start'>,
): (readPath: () => string) => Promise<ProbeReply> {
  const inspected = inspectReceiver(receiver)
  let asked: Promise<Readiness> | undefined
  let askedAt = Number.NEGATIVE_INFINITY

  async function readiness(): Promise<Readiness> {
    if (inspected.isStopping()) return 'draining'
    if (inspected.isNeverStarted()) return 'never_started'
    if (performance.now() - askedAt > KEPT_MS || asked === undefined) {
      askedAt = performance.now()
      asked = ask(receiver, inspected)
    }
    return asked
  }
  return async readPath => {
    const path = textOf(readPath)
    if (path === undefined) return replyOf(400, { status: 'request_unreadable' })
    const probe = nameOf(path)
    if (probe === 'live') return replyOf(200, { status: 'live' })
    if (probe !== 'ready') return replyOf(404, { status: 'not_found', message: TWO_PROBES })
    const status = await readiness()
    return replyOf(status === 'ready' ? 200 : 503, { status, ...silenceOf(inspected) })
  }
}

/**
 * Starts the inbox if nothing has: a load balancer sends no delivery, which would start it, before the first probe
 * succeeds. Not if stored events may wait in it, for which a handler may be missing still.
 */
async function ask(receiver: Pick<Receiver, 'start'>, { inbox }: InspectedReceiver): Promise<Readiness> {
  try {
    await withDeadline(receiver.start(), { operation: 'start', ms: MAX_WAIT_MS })
  } catch (error) {
    return error instanceof DeadlineError ? 'starting' : 'inbox_unavailable'
  }
  try {
    await withDeadline(Promise.resolve(inbox.stats()), { operation: 'stats', ms: MAX_WAIT_MS })
    return 'ready'
  } catch {
    return 'inbox_unavailable'
  }
}

/** With `expectEvery` only. Silence is no reason to take a process out: no other would get more deliveries. */
function silenceOf({ silence }: InspectedReceiver): Readonly<Record<string, string | boolean>> {
  const state = silence()
  if (state === undefined) return {}
  const { isSilent, lastDeliveryAt } = state
  return {
    silent: isSilent,
    ...(lastDeliveryAt !== undefined && { lastDelivery: new Date(lastDeliveryAt).toISOString() }),
  }
}

const TWO_PROBES =
  'There are two probes: readiness at a path that ends in /ready, and liveness at one that ends in /live.'

/** Returns the last segment of a path, without a regular expression that a long path could keep busy. */
function nameOf(path: string): string {
  const [whole = ''] = path.split(/[?#]/, 1)
  const end = whole.endsWith('/') ? whole.length - 1 : whole.length
  return whole.slice(whole.lastIndexOf('/', end - 1) + 1, end)
}

function textOf(read: () => unknown): string | undefined {
  try {
    const text = read()
    return typeof text === 'string' ? text : undefined
  } catch {
    return undefined
  }
}

function replyOf(status: ProbeReply['status'], body: Readonly<Record<string, string | boolean>>): ProbeReply {
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' }
  return { status, headers, body: JSON.stringify(body) }
}
