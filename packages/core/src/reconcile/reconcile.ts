import { ConfigurationError, describeError } from '../errors/errors.ts'
import type { Duration } from '../errors/parse-duration.ts'
import { refuseNull, refuseUnknownNames, show } from '../lib/check-option.ts'
import { durationMs } from '../lib/duration.ts'
import { type Round, Rounds } from '../lib/rounds.ts'
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
   * pages' events. Heed `signal`: it is aborted by `close()`, and once nothing has come for two minutes. The platform
   * publishes no such call.
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

/** Time in which a list, a cursor or the inbox must answer: a page of events, not all of them. */
const STALLED_MS = 120_000
/** A comparison that lasts longer tells so, and what it has repaired until then. */
const TELL_MS = 60_000
const LONG_MS = 3_600_000

/** Counts of one comparison, and the part of them that was told. */
class Counts {
  readonly total = { listed: 0, missed: 0, invalid: 0 }
  #told: Reconciled = NOTHING
  /** The first is told after a second, so that a process that is killed has told it. */
  #toldAt = performance.now() + 1000 - TELL_MS
  #longAt = performance.now() + LONG_MS

  /** Returns what has been counted since the last call, if it is time to tell that. */
  untold(isOver: boolean): Reconciled | undefined {
    if (!isOver && performance.now() - this.#toldAt < TELL_MS) return undefined
    this.#toldAt = performance.now()
    const [{ listed, missed, invalid }, told] = [this.total, this.#told]
    this.#told = { listed, missed, invalid }
    return { listed: listed - told.listed, missed: missed - told.missed, invalid: invalid - told.invalid }
  }

  /** Returns whether another hour has passed. */
  isLong(): boolean {
    if (performance.now() < this.#longAt) return false
    this.#longAt += LONG_MS
    return true
  }
}

class Schedule {
  readonly #receiver: Pick<Receiver<never, never>, 'ingest'>
  readonly #inspected: InspectedReceiver
  readonly #options: Resolved
  readonly #rounds: Rounds<Reconciled>

  constructor(receiver: Pick<Receiver<never, never>, 'ingest'>, options: Resolved) {
    this.#receiver = receiver
    this.#inspected = inspectReceiver(receiver)
    this.#options = options
    this.#rounds = new Rounds({
      name: 'reconcile',
      board: this.#inspected.rounds,
      deadlineMs: STALLED_MS,
      run: round => this.#compare(round),
      succeeded: () => this.#endWithReceiver() ?? options.everyMs,
      failed: (error, failures) => this.#failed(error, failures),
    })
    this.#rounds.next(0)
  }

  run(): Promise<Reconciled> {
    return this.#rounds.now()
  }

  close(): Promise<void> {
    return this.#rounds.end(new Error('The reconciliation was closed.'))
  }

  #endWithReceiver(): 0 | undefined {
    if (!this.#inspected.isStopping()) return undefined
    void this.close()
    return 0
  }

  #failed(err: unknown, failures: number): number {
    if (this.#endWithReceiver() !== undefined) return 0
    const delayMs = this.#options.everyMs * Math.min(MAX_BACKOFF, 2 ** (failures - 1))
    this.#inspected.logger.warn(
      { code: 'reconcile_failed', err },
      `Events could not be compared with the list: ${describeError(err)}. Tried again in ${Math.round(delayMs / 1000)} s.`,
    )
    return delayMs
  }

  async #compare(round: Round): Promise<Reconciled> {
    const counts = new Counts()
    // What a comparison has repaired before it failed is repaired: the next one counts only the rest.
    const tell = (): void => this.#tell(counts, true)
    round.signal.addEventListener('abort', tell)
    try {
      return await this.#compareAll(round, counts)
    } finally {
      tell()
    }
  }

  async #compareAll({ signal, progressed }: Round, counts: Counts): Promise<Reconciled> {
    const { cursor, everyMs, settleMs, list } = this.#options
    if ((await cursor.claim?.(everyMs)) === false) return NOTHING
    progressed()
    const until = Date.now() - settleMs
    const from = this.#from(await cursor.load())
    progressed()
    if (from >= until) return NOTHING
    const listed: unknown = await list({ since: new Date(from), signal })
    if (!isList(listed))
      throw new Error(`The option 'list' must return an array or an async iterable; returned ${show(listed)}`)
    for await (const event of listed) {
      signal.throwIfAborted()
      progressed()
      if (isOlder(event, until)) await this.#offer(event, counts.total)
      progressed()
      this.#tell(counts, false)
    }
    signal.throwIfAborted()
    await cursor.save(new Date(until))
    return counts.total
  }

  /** A time that is still to come was saved by a clock that was ahead: what was compared since is unknown. */
  #from(known: Date | undefined): number {
    const { overlapMs, since, settleMs } = this.#options
    const now = Date.now()
    const first = since?.getTime() ?? now - DAY_MS
    if (known === undefined) return first
    if (!(known instanceof Date) || Number.isNaN(known.getTime()))
      throw new Error("The option 'cursor' loaded no valid Date, and not undefined")
    if (known.getTime() <= now) return known.getTime() - overlapMs
    const from = Math.min(first, now - settleMs - overlapMs)
    this.#inspected.logger.warn(
      { code: 'reconcile_clock', cursor: known.toISOString() },
      `The cursor ${known.toISOString()} is still to come: a clock is wrong, or was. It is forgotten, and events are compared since ${new Date(from).toISOString()}. If the clock was wrong for longer than that, compare earlier events with 'since'.`,
    )
    return from
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

  #tell(counts: Counts, isOver: boolean): void {
    const { logger, observe } = this.#inspected
    if (counts.isLong())
      logger.warn(
        { code: 'reconcile_slow', ...counts.total },
        `A comparison with the list is not over after an hour or more: ${counts.total.listed} events so far. Perhaps its pages repeat.`,
      )
    const { listed, missed, invalid } = counts.untold(isOver) ?? NOTHING
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
