import { get as getHttp } from 'node:http'
import { get as getHttps } from 'node:https'
import type { LookupFunction } from 'node:net'

/** What the receiver's dashboard says of an event. */
export interface ReceiverView {
  /** Address of the dashboard; null if none is set. */
  readonly dashboard: string | null
  /** Address of a trace, with `{traceId}`; null if none is set. */
  readonly traceUrl: string | null
  /** Where the dashboard shows the event. */
  readonly href: string | null
  /** Where the event is: `handled`, `pending`, `active`, `dead`, `unknown`, `gone` or `unclear`. */
  readonly state: string | null
  /** What its process has observed of the event, oldest first. */
  readonly observations: readonly ReceiverObservation[]
  /** Reason why the dashboard could not be asked. */
  readonly error: string | null
}

/** A moment in the receiver. */
export interface ReceiverObservation {
  readonly at: string
  /** `accepted`, `completed`, `attempt_failed`, `dead_lettered` and others. */
  readonly kind: string
  readonly attempt: number | null
  readonly durationMs: number | null
}

/** The parts of the dashboard's replies that are read. They come from elsewhere, so none is certain. */
interface Reply {
  readonly exact?: { readonly key?: unknown; readonly state?: unknown }
  readonly here?: { readonly observations?: unknown }
}

const LIMIT = { ms: 3000, bytes: 4 * 1024 * 1024 }

/** Asks a dashboard where an event is, and what its process has observed of it. */
export async function askDashboard(
  dashboard: string,
  event: string,
  lookup: LookupFunction,
): Promise<Pick<ReceiverView, 'href' | 'state' | 'observations'>> {
  const base = dashboard.endsWith('/') ? dashboard : `${dashboard}/`
  const [found, overview] = await Promise.all([
    getJson(`${base}api/find?q=${encodeURIComponent(event)}`, lookup),
    getJson(`${base}api/overview`, lookup),
  ])
  const { key, state } = found.exact ?? {}
  const lines = Array.isArray(overview.here?.observations) ? overview.here.observations : []
  const observations = lines.flatMap(line => observationOf(line, event)).reverse()
  return {
    href: base + placeOf(event, key, state),
    state: typeof state === 'string' ? state : null,
    observations,
  }
}

/** Returns the dashboard's page of a dead letter, or the list with an event that waits or runs. */
function placeOf(event: string, key: unknown, state: unknown): string {
  if (state === 'dead' && typeof key === 'string') return `#/letters/${encodeURIComponent(key)}`
  return state === 'pending' || state === 'active' ? `#/${state}?id=${encodeURIComponent(event)}` : ''
}

function observationOf(line: unknown, event: string): readonly ReceiverObservation[] {
  const { id, at, kind, attempt, durationMs } = Object(line) as Readonly<Record<string, unknown>>
  if (id !== event || typeof at !== 'number' || typeof kind !== 'string') return []
  const numberOf = (value: unknown) => (typeof value === 'number' ? value : null)
  const instant = new Date(at).toISOString()
  return [{ at: instant, kind, attempt: numberOf(attempt), durationMs: numberOf(durationMs) }]
}

function getJson(url: string, lookup: LookupFunction): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const get = url.startsWith('https:') ? getHttps : getHttp
    const signal = AbortSignal.timeout(LIMIT.ms)
    const request = get(url, { lookup, signal, headers: { accept: 'application/json' } }, response => {
      const chunks: Buffer[] = []
      let length = 0
      response.on('data', (chunk: Buffer) => {
        length += chunk.length
        if (length > LIMIT.bytes) request.destroy(new Error('its reply is too long'))
        else chunks.push(chunk)
      })
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode !== 200) return reject(new Error(`it returned ${response.statusCode}`))
        try {
          resolve(Object(JSON.parse(Buffer.concat(chunks).toString())) as Reply)
        } catch {
          reject(new Error('its reply is not JSON'))
        }
      })
    })
    request.on('error', reject)
  })
}
