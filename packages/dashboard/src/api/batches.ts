import { withDeadline } from '@ackhook/core/spi'
import { Follower } from '../letters/follower.ts'
import { inLanes } from '../letters/in-lanes.ts'
import { changeLetters } from '../letters/letter-filter.ts'
import type { ResolvedDashboard } from '../options/options.ts'
import { shorten } from '../options/shorten.ts'
import {
  ApiProblem,
  type Batch,
  type BatchLeft,
  type BatchList,
  type BatchRequest,
  type EventRow,
} from '../protocol/protocol.ts'
import { AT_ONCE, observeChange, parseFilter, parseKeys } from './change-letters.ts'
import { groupIn, listEvents, MAX_LIMIT, MAX_REASON } from './list-events.ts'

/** Batches shown after their end. */
const KEPT = 20
const MAX_RUNNING = 10
const MAX_KEYS = 5000
/** A short batch has ended by the time of the reply, and a longer one has begun. */
const REPLY_MS = 400
/** Time limit for an outage of the inbox. */
const MAX_OUTAGE_MS = 600_000
/** An event that fails may wait for hours before its last attempt. */
const MAX_FOLLOWED_MS = 24 * 3_600_000
const COUNTING_MS = 10_000
const CALL_MS = 20_000
const FIRST_LOOK_MS = 100
const LAST_LOOK_MS = 30_000

/** The batches of this process. They go on without the page that started them, and end with the process. */
export class Batches {
  readonly #parts: ResolvedDashboard
  /** Newest first. */
  #all: readonly RunningBatch[] = []
  #process: string | undefined

  constructor(parts: ResolvedDashboard) {
    this.#parts = parts
  }

  list(): BatchList {
    return { process: this.#id(), batches: this.#all.map(batch => batch.view()) }
  }

  /** Starts a batch, and waits a moment for its end. Rejects if its first letters cannot be read. */
  async start(request: BatchRequest, by: string | undefined): Promise<Batch> {
    if (this.#all.filter(({ isOver }) => !isOver).length >= MAX_RUNNING)
      throw new ApiProblem(409, 'busy', `${MAX_RUNNING} batches run in this process: stop one, or wait.`)
    const about = { id: crypto.randomUUID(), process: this.#id(), startedAt: Date.now() }
    const batch = new RunningBatch(this.#parts, request, { ...about, ...(by !== undefined && { by }) })
    const first = await batch.read(undefined)
    this.#all = [batch, ...this.#all].filter((one, at) => at < KEPT || !one.isOver)
    await Promise.race([batch.run(first), pause(REPLY_MS)])
    return batch.view()
  }

  /** Counts the letters that a batch would change. */
  async count(request: BatchRequest): Promise<BatchLeft> {
    const batch = new RunningBatch(this.#parts, request, { id: '', process: '', startedAt: 0 })
    const endsAt = performance.now() + COUNTING_MS
    let left = 0
    for (let after: string | undefined; ; ) {
      const { letters, next } = await batch.read(after)
      left += letters.length
      if (next === undefined) return { left }
      if (performance.now() > endsAt) return { left, isPartial: true }
      after = next
    }
  }

  stop(id: string): Batch | undefined {
    const batch = this.#all.find(one => one.view().id === id)
    batch?.stop()
    return batch?.view()
  }

  /** Created late, because Workers forbid random values while a module loads. */
  #id(): string {
    this.#process ??= crypto.randomUUID()
    return this.#process
  }
}

type Chosen = Pick<EventRow, 'key' | 'id' | 'type' | 'namespace' | 'group' | 'failedAt'>

interface Page {
  readonly letters: readonly Chosen[]
  /** Position of the next page; `undefined` on the last. */
  readonly next: string | undefined
}

type About = Pick<Batch, 'id' | 'process' | 'startedAt' | 'by'>

/** One batch. While the inbox fails, it waits and tries again. */
class RunningBatch {
  readonly #parts: ResolvedDashboard
  readonly #request: BatchRequest
  readonly #about: About
  readonly #follower: Follower
  readonly #stop = new AbortController()
  #state: Batch['state'] = 'changing'
  #changed = 0
  #missed = 0
  #error: string | undefined
  #hasGivenUp = false

  constructor(parts: ResolvedDashboard, request: BatchRequest, about: About) {
    this.#parts = parts
    this.#request = request
    this.#about = about
    this.#follower = new Follower(parts.inbox, (reason, { id, type, namespace }) =>
      shorten(parts.redact(reason, { id, type, namespace }), MAX_REASON),
    )
  }

  get isOver(): boolean {
    return this.#state === 'over'
  }

  view(): Batch {
    const { action, total } = this.#request
    return {
      ...this.#about,
      action,
      ...(total !== undefined && { total }),
      ...('matching' in this.#request && { matching: this.#request.matching }),
      changed: this.#changed,
      missed: this.#missed,
      state: this.#state,
      ...(this.#stop.signal.aborted && { isStopped: true }),
      ...(this.#error !== undefined && { error: this.#error }),
      ...(action === 'redrive' && { outcome: this.#follower.outcome }),
    }
  }

  stop(): void {
    if (!this.isOver) this.#stop.abort()
  }

  /** Changes the letters from the first page on, then follows those redriven. Never rejects. */
  async run(first: Page): Promise<void> {
    for (let page: Page | undefined = first; page !== undefined; ) {
      for (let at = 0; at < page.letters.length && !this.#hasEnded; at += AT_ONCE)
        await this.#change(page.letters.slice(at, at + AT_ONCE))
      const { next }: Page = page
      page = next === undefined ? undefined : await this.#patiently(() => inTime(this.read(next)))
    }
    if (this.#request.action === 'redrive') await this.#follow()
    this.#state = 'over'
  }

  /** Reads a page of the letters to change. */
  async read(after: string | undefined): Promise<Page> {
    if ('keys' in this.#request) return this.#readKeys(this.#request, Number(after ?? 0))
    const { failedBy = Number.POSITIVE_INFINITY, ...filter } = this.#request.matching
    const { events, next } = await listEvents(this.#parts, {
      ...filter,
      state: 'dead',
      after,
      limit: MAX_LIMIT,
    })
    return { letters: events.filter(({ failedAt = 0 }) => failedAt <= failedBy), next }
  }

  async #readKeys(request: Extract<BatchRequest, { keys: unknown }>, at: number): Promise<Page> {
    const { keys, failedBy = Number.POSITIVE_INFINITY } = request
    const { deadLetters } = this.#parts.inbox
    const found = await inLanes(keys.slice(at, at + AT_ONCE), async key => {
      const letter = await deadLetters.get(key)
      return letter && headOf(letter)
    })
    const letters = found.flatMap(letter => letter ?? [])
    this.#missed += found.length - letters.length
    const next = at + AT_ONCE
    return {
      letters: letters.filter(({ failedAt = 0 }) => failedAt <= failedBy),
      next: next < keys.length ? String(next) : undefined,
    }
  }

  async #change(letters: readonly Chosen[]): Promise<void> {
    const { deadLetters } = this.#parts.inbox
    const { action } = this.#request
    let left = letters
    let isDoubtful = false
    await this.#patiently(async () => {
      if (isDoubtful) {
        // The call that failed may have changed some of them.
        const found = await inLanes(left, async ({ key }) => (await deadLetters.get(key))?.failedAt)
        const changed = left.filter(({ failedAt }, i) => found[i] !== failedAt)
        left = left.filter(({ failedAt }, i) => found[i] === failedAt)
        this.#count(changed, changed.map(keyOf))
      }
      isDoubtful = true
      if (left.length === 0) return
      const keys = await inTime(changeLetters(deadLetters, action, left.map(keyOf)))
      this.#count(left, keys)
    })
  }

  #count(letters: readonly Chosen[], changed: readonly string[]): void {
    const { action } = this.#request
    const keys = new Set(changed)
    this.#changed += changed.length
    this.#missed += letters.length - changed.length
    observeChange(this.#parts, action, letters, changed, this.#about.by)
    if (action === 'redrive') this.#follower.add(letters.filter(({ key }) => keys.has(key)))
  }

  /** Looks less and less often: an event that failed may wait for hours. */
  async #follow(): Promise<void> {
    this.#state = 'following'
    const { signal } = this.#stop
    const begun = Date.now()
    for (let waitMs = FIRST_LOOK_MS; this.#follower.open > 0 && !this.#hasEnded; ) {
      await pause(waitMs, signal)
      const before = Date.now()
      await this.#patiently(() => untilAborted(this.#follower.look(signal), signal))
      const now = Date.now()
      if (now - begun > MAX_FOLLOWED_MS) return
      // At most a fifth of the time is spent on looking.
      waitMs = Math.min(LAST_LOOK_MS, Math.max(FIRST_LOOK_MS, 4 * (now - before), (now - begun) / 20))
    }
  }

  get #hasEnded(): boolean {
    return this.#stop.signal.aborted || this.#hasGivenUp
  }

  /** Repeats `work` while the inbox fails. Resolves with `undefined` once it is stopped, or an outage takes too long. */
  async #patiently<T>(work: () => Promise<T>): Promise<T | undefined> {
    const begun = Date.now()
    for (let waitMs = 1000; !this.#hasEnded; waitMs = Math.min(2 * waitMs, LAST_LOOK_MS)) {
      try {
        const result = await work()
        this.#error = undefined
        return result
      } catch (cause) {
        this.#error = `The inbox failed: ${cause instanceof Error ? cause.message : String(cause)}`
        this.#hasGivenUp = cause instanceof ApiProblem || Date.now() - begun > MAX_OUTAGE_MS
        if (!this.#hasEnded) await pause(waitMs, this.#stop.signal)
      }
    }
    return undefined
  }
}

function headOf(letter: Parameters<typeof groupIn>[0] & Omit<Chosen, 'group'>): Chosen {
  const { key, id, type, namespace, failedAt } = letter
  return { key, id, type, namespace, ...groupIn(letter), ...(failedAt !== undefined && { failedAt }) }
}

/** Other inboxes may have no time limit of their own. */
function inTime<T>(call: Promise<T>): Promise<T> {
  return withDeadline(call, { operation: 'inbox', ms: CALL_MS })
}

function keyOf({ key }: Chosen): string {
  return key
}

/** Waits without keeping the process alive. */
function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const timer: unknown = setTimeout(end, ms)
    if (typeof timer === 'object') (timer as { unref?: () => void }).unref?.()
    signal?.addEventListener('abort', end)
    function end(): void {
      signal?.removeEventListener('abort', end)
      resolve()
    }
  })
}

/** Resolves with the result of `work`, or with `undefined` as soon as the signal is aborted. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const end = (): void => resolve(undefined)
    signal.addEventListener('abort', end)
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end))
  })
}

/** Validates the body of a request. Throws a 400 that names the mistake. */
export function parseBatch(body: unknown): BatchRequest {
  const { action, total, keys, matching, failedBy } = Object(body) as Partial<Record<string, unknown>>
  if (action !== 'redrive' && action !== 'discard')
    throw new ApiProblem(400, 'invalid', "'action' must be redrive or discard.")
  const about = { action, ...(typeof total === 'number' && { total }) } as const
  if (keys === undefined) return { ...about, matching: parseFilter(matching) }
  return {
    ...about,
    keys: parseKeys(keys, MAX_KEYS),
    ...(typeof failedBy === 'number' && { failedBy }),
  }
}
