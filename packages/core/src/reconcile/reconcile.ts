import { ConfigurationError, describeError } from '../errors/errors.ts'
import type { Duration } from '../errors/parse-duration.ts'
import { refuseNull, refuseUnknownNames, show } from '../lib/check-option.ts'
import { durationMs } from '../lib/duration.ts'
import { letProcessEnd } from '../lib/let-process-end.ts'
import { type InspectedReceiver, inspectReceiver } from '../receiver/inspect.ts'
import type { Receiver } from '../receiver/receiver.ts'

/** An event as deliveries have it: the fields that its contract names, and any others. */
type Listed = object

/** Keeps the time up to which events were compared: a row, a key or a file of the application's. */
export interface Cursor {
  load(): Promise<Date | undefined> | Date | undefined
  save(to: Date): Promise<void> | void
  /**
   * Returns whether this process is the one that compares now, for about this many milliseconds. Absent: every process
   * compares, which costs calls and changes nothing.
   */
  claim?(ms: number): Promise<boolean> | boolean
}

/** Options of {@link reconcile}. Durations are strings with a unit, such as `'15m'`. */
export interface ReconcileOptions {
  /**
   * Lists the events since a time, by their creation, in any order and with repetitions: a list, or an async iterable of
   * pages' events. Heed `signal`: it is aborted by `close()`. The platform publishes no such call.
   */
  readonly list: (query: {
    readonly since: Date
    readonly signal: AbortSignal
  }) => AsyncIterable<Listed> | Iterable<Listed> | Promise<Iterable<Listed> | AsyncIterable<Listed>>
  /** Where the events come from, as for `ingest`. Default `'reconcile'`. */
  readonly source?: string | undefined
  /** Namespace of the events, as for `ingest`. */
  readonly namespace?: string | undefined
  /** Time between two comparisons. After a failure it grows up to eight times. Default `'15m'`. */
  readonly every?: Duration | undefined
  /** Events younger than this are left out: their deliveries may still be on their way. Default `'1h'`. */
  readonly settle?: Duration | undefined
  /** How much of the time before is listed again, for events that appear late in the list. Default `'1h'`. */
  readonly overlap?: Duration | undefined
  /** Time from which the first comparison lists. Default: a day ago. Later ones go on from the cursor. */
  readonly since?: Date | undefined
  /** Default: in this process, so that each start begins at `since`. */
  readonly cursor?: Cursor | undefined
}

/** Result of one comparison. */
export interface Reconciled {
  /** Events in the list that were old enough. */
  readonly listed: number
  /** Events that no delivery had brought: they are handled now. */
  readonly missed: number
  /** Events that the receiver refuses, such as those that do not match their schema. */
  readonly invalid: number
}

/** A schedule of comparisons, until it is closed or its receiver is. */
export interface Reconciliation {
  /** Compares now, unless a comparison is under way, and then waits for that one. Rejects with what made it fail. */
  run(): Promise<Reconciled>
  /** Ends the schedule and a comparison under way. Never rejects. */
  close(): Promise<void>
}

const DAY_MS = 86_400_000
const MAX_BACKOFF = 8
const NOTHING: Reconciled = { listed: 0, missed: 0, invalid: 0 }

/**
 * Compares what a list of the application's has with what deliveries have brought, and ingests what is missing. Any missed
 * event means that a webhook was lost: it is logged as a warning and observed as a notice. Ends with its receiver. Throws
 * `ConfigurationError` for a wrong option.
 *
 * @example
 * const repairs = reconcile(receiver, { list: ({ since, signal }) => api.listEvents({ since, signal }) })
 */
export function reconcile(
  receiver: Pick<Receiver<never, never>, 'ingest'>,
  options: ReconcileOptions,
): Reconciliation {
  const schedule = new Schedule(receiver, resolve(options))
  return { run: () => schedule.run(), close: () => schedule.close() }
}

interface Resolved extends Pick<ReconcileOptions, 'list' | 'namespace'> {
  readonly source: string
  readonly everyMs: number
  readonly settleMs: number
  readonly overlapMs: number
  readonly since: Date | undefined
  readonly cursor: Cursor
}

const NAMES = [
  'list',
  'source',
  'namespace',
  'every',
  'settle',
  'overlap',
  'since',
  'cursor',
] satisfies (keyof ReconcileOptions)[]

function resolve(options: ReconcileOptions): Resolved {
  refuseUnknownNames(options, NAMES, '', '{ list: ({ since }) => api.listEvents({ since }) }')
  refuseNull(options)
  const { list, source = 'reconcile', namespace, since, cursor = inMemory() } = options
  if (typeof list !== 'function')
    throw new ConfigurationError('list', `must be a function that returns events; got ${show(list)}`)
  if (since !== undefined && Number.isNaN(Number(new Date(since))))
    throw new ConfigurationError('since', `must be a Date; got ${show(since)}`)
  for (const method of ['load', 'save'] as const)
    if (typeof cursor[method] !== 'function')
      throw new ConfigurationError('cursor', `must have the methods load and save; it has no '${method}'`)
  const ms = (option: 'every' | 'settle' | 'overlap', preset: Duration, minMs: number): number =>
    durationMs(options[option] ?? preset, { option, minMs, maxMs: 30 * DAY_MS })
  const everyMs = ms('every', '15m', 1000)
  return {
    list,
    source,
    namespace,
    since,
    cursor,
    everyMs,
    settleMs: ms('settle', '1h', 0),
    overlapMs: ms('overlap', '1h', 0),
  }
}

function inMemory(): Cursor {
  let at: Date | undefined
  const save = (to: Date): void => {
    at = to
  }
  return { load: () => at, save }
}

class Schedule {
  readonly #receiver: Pick<Receiver<never, never>, 'ingest'>
  readonly #inspected: InspectedReceiver
  readonly #options: Resolved
  readonly #abort = new AbortController()
  #running: Promise<Reconciled> | undefined
  #failures = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(receiver: Pick<Receiver<never, never>, 'ingest'>, options: Resolved) {
    this.#receiver = receiver
    this.#inspected = inspectReceiver(receiver)
    this.#options = options
    this.#wait(0)
  }

  run(): Promise<Reconciled> {
    this.#running ??= this.#compare().finally(() => (this.#running = undefined))
    return this.#running
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#abort.abort(new Error('The reconciliation was closed.'))
    await this.#running?.catch(() => {})
  }

  #wait(ms: number): void {
    if (this.#abort.signal.aborted || this.#inspected.isStopping()) return
    this.#timer = setTimeout(() => void this.#turn(), ms)
    letProcessEnd(this.#timer)
  }

  async #turn(): Promise<void> {
    const { everyMs } = this.#options
    try {
      await this.run()
      this.#failures = 0
    } catch (err) {
      this.#failures++
      if (this.#abort.signal.aborted || this.#inspected.isStopping()) return
      this.#inspected.logger.warn(
        { code: 'reconcile_failed', err },
        `Events could not be compared with the list: ${describeError(err)}. Tried again in ${Math.round(this.#delayMs() / 1000)} s.`,
      )
    }
    this.#wait(this.#failures === 0 ? everyMs : this.#delayMs())
  }

  #delayMs(): number {
    return this.#options.everyMs * Math.min(MAX_BACKOFF, 2 ** (this.#failures - 1))
  }

  async #compare(): Promise<Reconciled> {
    const { cursor, everyMs, settleMs, overlapMs, since, list } = this.#options
    const { signal } = this.#abort
    if ((await cursor.claim?.(everyMs)) === false) return NOTHING
    const until = Date.now() - settleMs
    const known = await cursor.load()
    const from = known === undefined ? (since?.getTime() ?? Date.now() - DAY_MS) : known.getTime() - overlapMs
    if (from >= until) return NOTHING
    const counts = { listed: 0, missed: 0, invalid: 0 }
    if (!Number.isFinite(from)) throw new Error("The option 'cursor' loaded no valid Date, and not undefined")
    const listed: unknown = await list({ since: new Date(from), signal })
    if (!isList(listed))
      throw new Error(`The option 'list' must return an array or an async iterable; returned ${show(listed)}`)
    for await (const event of listed) {
      signal.throwIfAborted()
      if (isOlder(event, until)) await this.#offer(event, counts)
    }
    signal.throwIfAborted()
    await cursor.save(new Date(until))
    this.#tell(counts)
    return counts
  }

  /** A refusal that passes ends the comparison, so that the cursor stays; one that does not is the event's own. */
  async #offer(event: Listed, counts: { listed: number; missed: number; invalid: number }): Promise<void> {
    const { source, namespace } = this.#options
    const result = await this.#receiver.ingest(event, { source, namespace })
    counts.listed++
    if (result.outcome === 'accepted' || result.outcome === 'processed' || result.outcome === 'dead_lettered')
      counts.missed++
    if (result.outcome !== 'refused') return
    if (result.status >= 500)
      throw new Error(`The receiver refused an event: ${result.code}`, { cause: result.cause })
    counts.invalid++
  }

  #tell({ listed, missed, invalid }: Reconciled): void {
    const { logger, observe } = this.#inspected
    if (missed > 0) {
      const message = `${missed} of ${listed} events had never been delivered: they are handled now. A webhook was lost, by the sender or in front of this receiver.`
      logger.warn({ code: 'events_missed', missed, listed }, message)
      observe({ kind: 'notice', code: 'events_missed', message })
    }
    if (invalid > 0)
      logger.warn(
        { code: 'listed_events_invalid', invalid, listed },
        `${invalid} of ${listed} listed events were refused, and are not handled: they are no events, or do not match their schema.`,
      )
  }
}

/** A text has characters to loop over, and an empty one would look like a list without events. */
function isList(listed: unknown): listed is Iterable<Listed> | AsyncIterable<Listed> {
  return (
    typeof listed === 'object' &&
    listed !== null &&
    (Symbol.iterator in listed || Symbol.asyncIterator in listed)
  )
}

/** An event without a time that can be read is offered: it may be missing too. */
function isOlder(event: Listed, until: number): boolean {
  const createdAt = Date.parse(String((event as { readonly created_at?: unknown }).created_at))
  return Number.isNaN(createdAt) || createdAt <= until
}
