import { ConfigurationError, type DeadLetter, type Delivery, type Inbox } from '@ackhook/core'
import {
  ABORT,
  ACCEPT_RESULTS,
  type AcceptResult,
  type Attempt,
  type AttemptResult,
  crashDelayMs,
  crashPolicy,
  createAttempt,
  describeError,
  eventRef,
  type ProcessEvent,
  type ProcessingPolicy,
  settlesWithin,
} from '@ackhook/core/spi'
import { ReadyQueue } from '../../../packages/core/src/inbox/memory/ready-queue.ts'
import type { DiskHandle } from './disk.ts'
import { acceptedLine, applyLine, type Line, type Row, type Rows } from './file-rows.ts'

const AGAIN_MS = 50
const PAGE_BYTES = 4_194_304

interface Entry {
  readonly delivery: Delivery
  /** Attempts begun. */
  attempts: number
}

interface Held {
  readonly entry: Entry
  readonly attempt: Attempt
  ended: Promise<void>
}

/**
 * A small correct inbox for one process, on a file with one change per line. A change counts once its line is flushed.
 * Faulty inboxes override its parts.
 */
export class FileInbox implements Inbox {
  readonly durable = true
  protected rows: Rows = new Map()
  protected readonly disk: DiskHandle
  protected policy: ProcessingPolicy | undefined
  protected readonly held = new Map<string, Held>()
  protected readonly timers = new Set<ReturnType<typeof setTimeout>>()
  protected isClosed = false
  #process: ProcessEvent | undefined
  #ready = new ReadyQueue<Entry>({ concurrency: 16 })
  #last: Promise<unknown> = Promise.resolve()
  #pumping = false

  constructor(disk: DiskHandle) {
    this.disk = disk
  }

  async start(run: ProcessEvent, policy: ProcessingPolicy): Promise<void> {
    this.policy = policy
    this.#process = run
    await this.load()
    if (policy.concurrency === 0) return
    const waiting = [...this.rows.values()].filter(({ state }) => state === 'waiting')
    const begun = waiting.filter(({ hasBegun }) => hasBegun).map(row => [row, this.hold(row)] as const)
    for (const [row, entry] of begun) this.later(this.delayOf(row), () => this.push(entry))
    for (const row of waiting.filter(({ hasBegun }) => !hasBegun)) this.enqueue(row)
  }

  async accept(delivery: Delivery): Promise<AcceptResult> {
    try {
      return await this.exclusive(() => this.store(delivery))
    } catch (cause) {
      return { outcome: 'unavailable', code: 'inbox_unavailable', cause }
    }
  }

  async close(timeoutMs: number) {
    this.isClosed = true
    for (const timer of this.timers) clearTimeout(timer)
    const ended = Promise.all([...this.held.values()].map(one => one.ended))
    if (!(await settlesWithin(ended, timeoutMs))) {
      for (const { attempt } of this.held.values()) attempt.abort(ABORT.drained())
      await settlesWithin(ended, 1000)
    }
    for (const held of this.held.values()) await this.exclusive(() => this.release(held)).catch(() => {})
    return { lost: 0 }
  }

  async stats() {
    const rows = [...this.rows.values()]
    const open = rows.filter(isOpen)
    const oldestAt = Math.min(...open.map(({ acceptedAt }) => acceptedAt))
    return {
      pending: open.filter(({ state }) => state === 'waiting').length,
      active: open.filter(({ state }) => state === 'running').length,
      dead: rows.filter(({ state }) => state === 'dead').length,
      oldestPendingMs: open.length === 0 ? 0 : Math.max(0, Date.now() - oldestAt),
    }
  }

  readonly deadLetters: Inbox['deadLetters'] = {
    list: ({ limit = 100, after, order = 'newest' } = {}) => {
      if (after !== undefined && !/^\d+$/.test(after))
        throw new ConfigurationError('after', 'must be the cursor of a dead letter')
      const sign = order === 'oldest' ? 1 : -1
      const dead = [...this.rows.values()].filter(({ state }) => state === 'dead')
      dead.sort((a, b) => sign * (this.placeOf(a) - this.placeOf(b)))
      return pageOf(
        dead.filter(row => after === undefined || sign * (this.placeOf(row) - Number(after)) > 0),
        limit,
      ).map(row => this.toLetter(row))
    },
    get: key => {
      const row = this.rows.get(key)
      return row?.state === 'dead' ? this.toLetter(row) : undefined
    },
    redrive: async key => (await this.change('redriven', [key])).length === 1,
    discard: async key => (await this.change('discarded', [key])).length === 1,
    redriveMany: keys => this.change('redriven', keys),
    discardMany: keys => this.change('discarded', keys),
  }

  forget(key: string): Promise<boolean> {
    return this.exclusive(async () => {
      if (this.find(key)?.state !== 'done') return false
      await this.commit({ is: 'forgotten', key })
      return true
    })
  }

  /** Ends this inbox's process. */
  kill(): void {
    this.disk.crash()
    this.isClosed = true
    this.held.clear()
    for (const timer of this.timers) clearTimeout(timer)
  }

  /** Reads the file, except for a torn last line, and records crashes of the running attempts in it. */
  protected async load(): Promise<void> {
    const text = this.disk.read()
    const whole = this.wholeLines(text)
    this.rows = new Map()
    for (const line of whole.split('\n')) if (line !== '') this.replay(JSON.parse(line))
    if (whole.length < text.length) this.disk.replace(whole)
    await this.opened()
    for (const [key, row] of this.rows) {
      if (row.state !== 'running') continue
      const delayMs = crashDelayMs(row.crashes + 1, this.policy!.retry)
      await this.commit({ is: 'crashed', key, until: this.now() + delayMs })
    }
  }

  protected wholeLines(text: string): string {
    return text.slice(0, text.lastIndexOf('\n') + 1)
  }

  /** Proves that the file can be written. */
  protected async opened(): Promise<void> {
    await this.commit({ is: 'opened' })
  }

  protected replay(line: Line): void {
    applyLine(this.rows, line)
  }

  protected async store(delivery: Delivery): Promise<AcceptResult> {
    if (this.isClosed)
      return { outcome: 'unavailable', code: 'inbox_unavailable', cause: new Error('closed') }
    const known = this.find(delivery.key)
    const isSame = known?.delivery.fingerprint === delivery.fingerprint
    if (known !== undefined && known.state !== 'dead')
      return isSame ? ACCEPT_RESULTS.duplicate : ACCEPT_RESULTS.conflict
    if (this.openRows() >= this.policy!.capacity) return ACCEPT_RESULTS.full
    await this.commit(acceptedLine(delivery, this.now()))
    this.enqueue(this.rows.get(delivery.key)!)
    return known === undefined || isSame ? ACCEPT_RESULTS.accepted : ACCEPT_RESULTS.replaced
  }

  protected openRows(): number {
    return [...this.rows.values()].filter(isOpen).length
  }

  /** Returns an event's row, unless its id has expired. */
  protected find(key: string): Row | undefined {
    const row = this.rows.get(key)
    return row?.state === 'done' && row.until <= this.now() ? undefined : row
  }

  protected now(): number {
    return Date.now()
  }

  /** Commits changes durably, all or none. */
  protected async commit(...lines: readonly Line[]): Promise<void> {
    this.disk.write(lines.map(line => `${JSON.stringify(line)}\n`).join(''))
    await this.flush()
    for (const line of lines) applyLine(this.rows, line)
  }

  protected flush(): Promise<void> {
    return this.disk.flush()
  }

  /** Runs changes of the file one by one. */
  protected exclusive<T>(change: () => Promise<T>): Promise<T> {
    const result = this.#last.then(change)
    this.#last = result.catch(() => {})
    return result
  }

  protected change(is: 'redriven' | 'discarded', keys: readonly string[]): Promise<readonly string[]> {
    return this.exclusive(async () => {
      const dead = [...new Set(keys)].filter(key => this.rows.get(key)?.state === 'dead')
      if (dead.length > 0) await this.commit(...dead.map(key => ({ is, key })))
      if (is === 'redriven') for (const key of dead) this.enqueue(this.rows.get(key)!)
      return dead
    })
  }

  protected placeOf(row: Row): number {
    return row.place
  }

  protected toLetter(row: Row): DeadLetter {
    const { key, namespace, id, type, body, receivedAt } = row.delivery
    const { failedAt, attempts, reason } = row
    return {
      ...{ key, namespace, id, type, receivedAt, failedAt, attempts, reason },
      body: new Uint8Array(body),
      cursor: String(this.placeOf(row)),
    }
  }

  /** Returns the milliseconds until an event may run. */
  protected delayOf({ until }: Row): number {
    return until - this.now()
  }

  protected enqueue(row: Row): void {
    if ((this.policy?.concurrency ?? 0) === 0) return
    this.later(this.delayOf(row), () => this.push({ delivery: row.delivery, attempts: 0 }))
  }

  /** Lets an event that has begun hold its key. */
  protected hold({ delivery }: Row): Entry {
    const entry = { delivery, attempts: 0 }
    this.#ready.push(entry)
    this.#ready.shift()
    return entry
  }

  protected later(delayMs: number, task: () => void): void {
    if (this.isClosed) return
    if (delayMs <= 0) {
      task()
      return
    }
    const timer = setTimeout(() => {
      this.timers.delete(timer)
      if (!this.isClosed) task()
    }, delayMs)
    this.timers.add(timer)
  }

  protected push(entry: Entry): void {
    this.#ready.push(entry)
    if (this.#pumping) return
    this.#pumping = true
    // After the reply.
    setImmediate(() => {
      this.#pumping = false
      this.pump()
    })
  }

  protected pump(): void {
    while (!this.isClosed && this.held.size < this.policy!.concurrency) {
      const entry = this.#ready.shift()
      if (entry === undefined) return
      const row = this.rows.get(entry.delivery.key)
      if (row === undefined) continue
      const decision = crashPolicy(row.crashes)
      const number = decision === 'run' ? row.attempts + 1 : row.attempts
      const held = {
        entry,
        attempt: createAttempt(number, decision, row.routingToken),
        ended: Promise.resolve(),
      }
      this.held.set(row.delivery.key, held)
      held.ended = this.attempt(held)
    }
  }

  protected async attempt(held: Held): Promise<void> {
    const { delivery } = held.entry
    if (await this.begin(held)) {
      const result = await this.#process!(this.deliveryFor(delivery), held.attempt)
      await this.recordUntilDone(result, held)
    }
    if (this.held.get(delivery.key) === held) this.held.delete(delivery.key)
    this.pump()
  }

  /** Returns a delivery with its own copy of the bytes, which a handler may change. */
  protected deliveryFor(delivery: Delivery): Delivery {
    return { ...delivery, body: new Uint8Array(delivery.body) }
  }

  /** Records that an attempt begins, so that the next process counts its crash. */
  protected async begin({ entry }: Held): Promise<boolean> {
    try {
      await this.exclusive(() => this.commit({ is: 'begun', key: entry.delivery.key }))
      return true
    } catch (error) {
      this.policy!.observe({ kind: 'store_down', operation: 'take', error })
      this.later(AGAIN_MS, () => this.push(entry))
      return false
    }
  }

  protected async recordUntilDone(result: AttemptResult, held: Held): Promise<void> {
    const { delivery } = held.entry
    for (;;) {
      try {
        await this.exclusive(() => this.record(result, held))
        return
      } catch (error) {
        this.policy!.observe({ kind: 'completion_lost', ...eventRef(delivery), error })
        if (this.isClosed) return
        await new Promise(resolve => setTimeout(resolve, AGAIN_MS))
      }
    }
  }

  protected async record(result: AttemptResult, held: Held): Promise<void> {
    const { entry, attempt } = held
    const { key } = entry.delivery
    // A time limit withdraws nothing: the attempt has failed.
    const code = attempt.abortReason?.code
    if (code !== undefined && code !== 'handler_timeout') return this.release(held)
    await this.commit(this.lineOf(result, key, attempt))
    if (this.rows.get(key)?.state === 'waiting') {
      this.later(this.delayOf(this.rows.get(key)!), () => this.push(entry))
    } else if (this.#ready.remove(entry)) this.pump()
  }

  protected lineOf(result: AttemptResult, key: string, { number, routingToken }: Attempt): Line {
    const now = this.now()
    if (result.outcome === 'completed') return { is: 'done', key, until: now + this.policy!.retentionMs }
    if (result.outcome === 'retry')
      return { is: 'waiting', key, until: now + result.delayMs, attempts: number, routingToken }
    const token = result.routingToken ?? routingToken
    const attempts = result.routingToken === undefined ? number : number - 1
    if (result.outcome === 'postponed')
      return { is: 'waiting', key, until: now + result.delayMs, attempts, routingToken: token }
    const [failedAt, reason] = [this.policy!.clock(), describeError(result.error)]
    return { is: 'dead', key, attempts, failedAt, reason, routingToken: token, place: nextPlace() }
  }

  /** Returns a withdrawn event without counting a crash. */
  protected async release(held: Held): Promise<void> {
    const { key } = held.entry.delivery
    if (this.held.get(key) !== held) return
    const crashes = held.attempt.decision === 'run' ? 0 : this.rows.get(key)!.crashes
    await this.commit({ is: 'released', key, crashes })
    this.held.delete(key)
  }
}

let place = Date.now() * 1000

/** Returns a place that grows across all processes. */
function nextPlace(): number {
  place += 1
  return place
}

function isOpen({ state }: Row): boolean {
  return state === 'waiting' || state === 'running'
}

function pageOf(rows: readonly Row[], limit: number): readonly Row[] {
  let bytes = 0
  const end = rows.findIndex(({ delivery }, index) => {
    bytes += delivery.body.length
    return index === limit || (index > 0 && bytes > PAGE_BYTES)
  })
  return end === -1 ? rows : rows.slice(0, end)
}
