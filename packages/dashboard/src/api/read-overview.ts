import { shorten } from '../letters/shorten.ts'
import type { ResolvedDashboard } from '../options/options.ts'
import type { LiveProcess, Minute, Overview, Role } from '../protocol/protocol.ts'

/** `GET api/overview` */
export async function readOverview(
  { inbox, activity, redact, bodies, traceUrl, emulatorUrl }: ResolvedDashboard,
  role: Role,
): Promise<Overview> {
  const [{ waitingError: error, ...stats }, throughput, processes, now] = await Promise.all([
    inbox.stats(),
    minutesOf(inbox),
    processesOf(inbox),
    // The page calculates the age of letters from it.
    inbox.deadLetters.now?.(),
  ])
  // The event of this error is unknown.
  const waitingError =
    error === undefined ? undefined : shorten(redact(error, { id: '', type: '', namespace: '' }), MAX_REASON)
  const { states = [], filters = [] } = inbox.browse === undefined ? {} : (inbox.browsing ?? {})
  return {
    now: now ?? Date.now(),
    role,
    stats: { ...stats, ...(waitingError !== undefined && { waitingError }) },
    ...(throughput !== undefined && { throughput }),
    ...(processes !== undefined && { processes }),
    ...(activity !== undefined && { here: activity.view(redact) }),
    browsing: { states: states.filter(state => state !== 'dead'), filters },
    bodies,
    ...(traceUrl !== undefined && { traceUrl }),
    ...(emulatorUrl !== undefined && { emulatorUrl }),
  }
}

const MINUTE_MS = 60_000
const SHOWN = 60
const MAX_REASON = 2048

/** Sixty minutes without gaps. */
async function minutesOf(inbox: ResolvedDashboard['inbox']): Promise<readonly Minute[] | undefined> {
  const counts = await inbox.throughput?.()
  if (counts === undefined) return undefined
  const countsReceived = counts.every(({ received }) => received !== undefined)
  const byMinute = new Map(counts.map(count => [Math.floor(count.startedAt / MINUTE_MS), count]))
  const last = Math.floor(Date.now() / MINUTE_MS)
  return Array.from({ length: SHOWN }, (_, index) => {
    const minute = last - SHOWN + 1 + index
    const { received = 0, handled = 0, deadLettered = 0 } = byMinute.get(minute) ?? {}
    return { at: minute * MINUTE_MS, ...(countsReceived && { received }), handled, deadLettered }
  })
}

async function processesOf(inbox: ResolvedDashboard['inbox']): Promise<readonly LiveProcess[] | undefined> {
  const all = await inbox.processes?.()
  return all?.map(({ id, process, version, startedAt, patterns, onUnhandled, seenMs }) => ({
    id,
    process,
    version,
    startedAt,
    patterns,
    onUnhandled,
    seenMs,
  }))
}
