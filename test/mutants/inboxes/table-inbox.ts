import type { PathState } from '@ackhook/conformance/inbox'
import {
  ConfigurationError,
  type DeadLetter,
  type Delivery,
  type HandlingControl,
  type Inbox,
  type PausedHandling,
} from '@ackhook/core'
import { dropOldLetters, shareHandlers } from '@ackhook/core/sharing'
import {
  ABORT,
  ACCEPT_RESULTS,
  type AcceptResult,
  type ActivityCounts,
  type ActivityLog,
  type ActivitySlot,
  type Attempt,
  type AttemptResult,
  type CountedSlot,
  crashDelayMs,
  crashPolicy,
  createAttempt,
  describeError,
  type Erasure,
  eventRef,
  type OlderLetters,
  PauseLog,
  type PresenceStore,
  type ProcessEvent,
  type ProcessingPolicy,
  pausedType,
  settlesWithin,
  sortedPauses,
} from '@ackhook/core/spi'
import type { Table, TableClient, TableRow } from './table.ts'

const LEASE_MS = 500
const AGAIN_MS = 20
const PAGE_BYTES = 4_194_304

interface Held {
  readonly row: TableRow
  readonly owner: number
  readonly attempt: Attempt
  ended: Promise<void>
}

/**
 * A small correct inbox that processes share: its events are rows on a server, and each attempt has a lease by the
 * server's clock. Faulty inboxes override its parts.
 */
export class TableInbox implements Inbox, TableClient {
  readonly durable = true
  protected readonly table: Table
  /** Milliseconds by which this process's clock is ahead of the server's. */
  protected readonly aheadMs: number
  protected policy: ProcessingPolicy | undefined
  protected readonly held = new Map<string, Held>()
  protected isClosed = false
  #path: PathState = { delayMs: 0 }
  #isStopped = false
  /** Time of the next request to take an event, by the monotonic clock. */
  #takesAt = 0
  #process: ProcessEvent | undefined
  #isDead = false
  #isDown = false
  #pauseLog: PauseLog | undefined
  #stopDropping = (): void => {}

  constructor(table: Table, aheadMs = 0) {
    this.table = table
    this.aheadMs = aheadMs
  }

  async start(run: ProcessEvent, policy: ProcessingPolicy): Promise<void> {
    // Proves that the server accepts writes.
    await this.write(() => {})
    await shareHandlers(this.board, policy)
    this.policy = policy
    this.#process = run
    this.#pauseLog = new PauseLog(policy)
    this.#stopDropping = dropOldLetters(this.deadLetters, policy)
    if (policy.concurrency > 0) this.table.clients.add(this)
    policy.activity?.begin(slots => this.addActivity(slots))
  }

  async accept(delivery: Delivery): Promise<AcceptResult> {
    try {
      if (this.isClosed) throw new Error('closed')
      return await this.write(() => this.store(delivery))
    } catch (cause) {
      return { outcome: 'unavailable', code: 'inbox_unavailable', cause }
    }
  }

  async close(timeoutMs: number) {
    this.isClosed = true
    this.#stopDropping()
    const ended = Promise.all([...this.held.values()].map(one => one.ended))
    if (!(await settlesWithin(ended, timeoutMs))) {
      for (const { attempt } of this.held.values()) attempt.abort(ABORT.drained())
      await settlesWithin(ended, 1000)
    }
    for (const held of this.held.values()) await this.write(() => this.release(held)).catch(() => {})
    await this.endActivity()
    this.table.clients.delete(this)
    this.held.clear()
    return { lost: 0 }
  }

  async stats() {
    const rows = [...this.table.rows.values()]
    const open = rows.filter(isOpen)
    const oldestAt = Math.min(...open.map(({ acceptedAt }) => acceptedAt))
    return {
      pending: open.filter(({ state }) => state === 'waiting').length,
      active: open.filter(({ state }) => state === 'running').length,
      dead: rows.filter(({ state }) => state === 'dead').length,
      oldestPendingMs: open.length === 0 ? 0 : Math.max(0, this.table.now() - oldestAt),
      ...(this.pauses.has(undefined) && { paused: true as const }),
      ...([...this.pauses.keys()].some(Boolean) && {
        pausedTypes: [...this.pauses.keys()].flatMap(one => one ?? []),
      }),
    }
  }

  async throughput() {
    return [{ startedAt: this.table.now(), ...this.table.counted }]
  }

  readonly deadLetters: Inbox['deadLetters'] = {
    list: ({ limit = 100, after, order = 'newest' } = {}) => {
      if (after !== undefined && !/^\d+$/.test(after))
        throw new ConfigurationError('after', 'must be the cursor of a dead letter')
      const sign = order === 'oldest' ? 1 : -1
      const dead = [...this.table.rows.values()]
        .filter(({ state, place }) => {
          return state === 'dead' && (after === undefined || sign * (place - Number(after)) > 0)
        })
        .sort((a, b) => sign * (a.place - b.place))
      return pageOf(dead, limit).map(letterOf)
    },
    get: key => {
      const row = this.table.rows.get(key)
      return row?.state === 'dead' ? letterOf(row) : undefined
    },
    redrive: async key => (await this.redriveMany([key])).length === 1,
    discard: async key => (await this.discardMany([key])).length === 1,
    redriveMany: keys => this.redriveMany(keys),
    discardMany: keys => this.discardMany(keys),
    discardOlder: query => this.discardOlder(query),
    now: () => this.letterNow(),
  }

  readonly erasure: Erasure = {
    scan: () => this.scan(),
    eraseWaiting: key => this.eraseWaiting(key),
  }

  protected async *scan(): AsyncIterable<readonly string[]> {
    const keys = [...this.table.rows.values()]
      .filter(row => row.state !== 'done')
      .map(({ delivery }) => delivery.key)
    for (let at = 0; at < keys.length; at += 100) yield keys.slice(at, at + 100)
  }

  protected eraseWaiting(key: string): Promise<boolean> {
    return this.write(() => {
      if (this.table.rows.get(key)?.state !== 'waiting') return false
      return this.table.rows.delete(key)
    })
  }

  readonly handling: HandlingControl = {
    pause: type => this.pause(pausedType(type)),
    resume: type => this.resume(pausedType(type)),
    paused: () => this.listPauses(),
  }

  /** The pauses that this process heeds. */
  protected get pauses(): Map<string | undefined, number> {
    return this.table.pauses
  }

  protected pause(type: string | undefined): Promise<boolean> {
    return this.write(() => {
      if (this.pauses.has(type)) return false
      this.pauses.set(type, this.table.now())
      return true
    })
  }

  protected resume(type: string | undefined): Promise<boolean> {
    return this.write(() => {
      const wasPaused = type === undefined ? this.pauses.size > 0 : this.pauses.delete(type)
      if (type === undefined) this.pauses.clear()
      return wasPaused
    })
  }

  protected listPauses(): readonly PausedHandling[] {
    return sortedPauses(
      [...this.pauses].map(([type, since]) => ({ since, ...(type !== undefined && { type }) })),
    )
  }

  readonly activity: ActivityLog = {
    read: ({ lengthMs, since }) =>
      [...this.table.activity.values()]
        .filter(slot => slot.lengthMs === lengthMs && slot.startedAt >= since)
        .sort((a, b) => a.startedAt - b.startedAt),
  }

  protected addActivity(slots: readonly CountedSlot[]): Promise<void> {
    return this.write(() => {
      for (const { startedAt, lengthMs, keptSince, counts } of slots) {
        const known = this.table.activity.get(`${lengthMs} ${startedAt}`)
        this.keepActivity({ startedAt, lengthMs, counts: this.sumOf(known?.counts ?? {}, counts) })
        for (const [place, slot] of this.table.activity)
          if (slot.lengthMs === lengthMs && slot.startedAt < keptSince) this.table.activity.delete(place)
      }
    })
  }

  protected keepActivity(slot: ActivitySlot): void {
    this.table.activity.set(`${slot.lengthMs} ${slot.startedAt}`, slot)
  }

  protected sumOf(sums: ActivityCounts, counts: ActivityCounts): ActivityCounts {
    const added = Object.entries(counts).map(([name, value]) => [name, value + (sums[name] ?? 0)])
    return { ...sums, ...Object.fromEntries(added) }
  }

  protected async endActivity(): Promise<void> {
    await this.policy?.activity?.end()
  }

  readonly board: PresenceStore = {
    publish: own => this.write(() => this.table.publish(own)),
    read: () => this.table.view(),
  }

  async processes() {
    return (await this.board.read()).processes
  }

  forget(key: string): Promise<boolean> {
    return this.write(() => {
      if (this.find(key)?.state !== 'done') return false
      return this.table.rows.delete(key)
    })
  }

  /** Ends this inbox's process. */
  kill(): void {
    this.#isDead = true
    this.isClosed = true
    this.table.clients.delete(this)
    this.held.clear()
  }

  /** Changes the path to the server. */
  setPath(path: PathState): void {
    this.#path = path
  }

  /** Stops this inbox's process, or continues it. */
  setStopped(isStopped: boolean): void {
    this.#isStopped = isStopped
  }

  protected get isSilent(): boolean {
    return this.#path === 'silent'
  }

  /** Resolves when a request has its reply. */
  protected async crosses(): Promise<void> {
    if (this.#path !== 'silent' && this.#path.delayMs > 0) await after(2 * this.#path.delayMs)
    while ((this.#isStopped || this.isSilent) && !this.#isDead) await after(5)
  }

  /** Extends the leases of events taken here, unless another process has them. */
  renew(): void {
    if (this.#isStopped || this.isSilent) return
    for (const held of this.held.values()) {
      if (this.owns(held)) this.table.isFailing || this.extend(held)
      else held.attempt.abort(ABORT.leaseLost())
    }
  }

  take(): void {
    const { policy } = this
    if (policy === undefined || this.isClosed || this.#isStopped || this.isSilent) return
    try {
      this.table.writeNow(() => {})
      this.#isDown = false
    } catch (error) {
      if (!this.#isDown) policy.observe({ kind: 'store_down', operation: 'take', error })
      this.#isDown = true
      return
    }
    this.#pauseLog?.see(this.listPauses())
    while (this.held.size < policy.concurrency) {
      // A distant process sends one request after the other.
      if (performance.now() < this.#takesAt) return
      const row = this.next()
      if (row === undefined) return
      if (this.#path !== 'silent') this.#takesAt = performance.now() + 2 * this.#path.delayMs
      this.begin(row)
    }
  }

  /** Returns the time for leases, delays and retention. */
  protected now(): number {
    return this.table.now()
  }

  protected async write<T>(change: () => T): Promise<T> {
    await this.crosses()
    return this.table.write(() => {
      if (this.#isDead) throw new Error('the process is dead')
      return change()
    })
  }

  protected store(delivery: Delivery): AcceptResult {
    const known = this.find(delivery.key)
    const isSame = known?.delivery.fingerprint === delivery.fingerprint
    if (known !== undefined && known.state !== 'dead')
      return isSame ? ACCEPT_RESULTS.duplicate : ACCEPT_RESULTS.conflict
    if (this.openRows() >= this.policy!.capacity || !this.hasRoom(delivery)) return ACCEPT_RESULTS.full
    // Comes after earlier events.
    this.table.rows.delete(delivery.key)
    this.table.rows.set(delivery.key, this.rowOf(delivery, known))
    this.table.counted.received += 1
    return known === undefined || isSame ? ACCEPT_RESULTS.accepted : ACCEPT_RESULTS.replaced
  }

  protected openRows(): number {
    return [...this.table.rows.values()].filter(isOpen).length
  }

  protected hasRoom({ body }: Delivery): boolean {
    const open = [...this.table.rows.values()].filter(isOpen)
    return open.reduce((sum, row) => sum + row.delivery.body.length, body.length) <= this.table.maxBytes
  }

  protected rowOf({ event: _, ...stored }: Delivery, before: TableRow | undefined): TableRow {
    return {
      delivery: { ...stored, body: new Uint8Array(stored.body) },
      acceptedAt: this.table.now(),
      state: 'waiting',
      until: 0,
      owner: 0,
      attempts: 0,
      crashes: 0,
      hasBegun: false,
      isPostponed: false,
      routingToken: before?.routingToken ?? 0,
      place: 0,
      failedAt: 0,
      reason: '',
    }
  }

  /** Returns an event's row, unless its id has expired. */
  protected find(key: string): TableRow | undefined {
    const row = this.table.rows.get(key)
    return row?.state === 'done' && row.until <= this.now() ? undefined : row
  }

  /** Returns the next event that may run: one that is due or has a lapsed lease. */
  protected next(): TableRow | undefined {
    const now = this.now()
    const open = [...this.table.rows.values()].filter(isOpen)
    return open.find(row => {
      const isPaused = this.pauses.has(undefined) || this.pauses.has(row.delivery.type)
      return row.until <= now && !isPaused && !this.held.has(row.delivery.key) && this.hasTurn(row, open)
    })
  }

  /** Returns whether no event with the same ordering key must run first. */
  protected hasTurn(row: TableRow, open: readonly TableRow[]): boolean {
    const { order } = row.delivery
    if (order === undefined || row.hasBegun) return true
    const others = open.filter(other => other !== row && other.delivery.order?.key === order.key)
    const index = open.indexOf(row)
    return others.every(other => {
      if (other.hasBegun) return false
      const createdAt = other.delivery.order!.createdAt
      return createdAt > order.createdAt || (createdAt === order.createdAt && open.indexOf(other) > index)
    })
  }

  protected begin(row: TableRow): void {
    if (row.state === 'running') this.countCrash(row)
    if (row.until > this.now()) return
    const decision = crashPolicy(row.crashes)
    const owner = this.table.nextNumber()
    Object.assign(row, { state: 'running', owner, hasBegun: true, isPostponed: false })
    const number = row.attempts + Number(decision === 'run')
    const attempt = createAttempt(number, decision, row.routingToken)
    const held: Held = { row, owner, attempt, ended: Promise.resolve() }
    this.extend(held)
    this.held.set(row.delivery.key, held)
    held.ended = this.run(held)
  }

  /** Records that a lease has lapsed. */
  protected countCrash(row: TableRow): void {
    row.attempts += Number(crashPolicy(row.crashes) === 'run')
    row.crashes += 1
    row.state = 'waiting'
    row.until = this.now() + crashDelayMs(row.crashes, this.policy!.retry)
  }

  protected extend({ row }: Held): void {
    row.until = this.now() + LEASE_MS
  }

  protected owns({ row, owner }: Held): boolean {
    const isThere = this.table.rows.get(row.delivery.key) === row
    return isThere && row.state === 'running' && row.owner === owner
  }

  protected async run(held: Held): Promise<void> {
    const { delivery } = held.row
    await new Promise(resolve => setImmediate(resolve))
    await this.crosses()
    if (!this.mayBegin(held)) {
      if (this.held.get(delivery.key) === held) this.held.delete(delivery.key)
      return
    }
    const result = await this.#process!({ ...delivery, body: new Uint8Array(delivery.body) }, held.attempt)
    while (!this.#isDead) {
      try {
        await this.write(() => this.record(result, held))
        break
      } catch (error) {
        this.policy!.observe({ kind: 'completion_lost', ...eventRef(delivery), error })
        await new Promise(resolve => setTimeout(resolve, AGAIN_MS))
      }
    }
    if (this.held.get(delivery.key) === held) this.held.delete(delivery.key)
  }

  /** Returns whether the lease still holds when the reply arrives that an event is taken. */
  protected mayBegin(held: Held): boolean {
    return this.owns(held)
  }

  protected record(result: AttemptResult, held: Held): void {
    if (!this.owns(held)) return
    // A time limit withdraws nothing: the attempt has failed.
    const code = held.attempt.abortReason?.code
    if (code === undefined || code === 'handler_timeout') this.apply(result, held)
    else this.release(held)
  }

  protected apply(result: AttemptResult, { row, attempt }: Held): void {
    const now = this.now()
    row.crashes = 0
    if (result.outcome === 'completed') {
      Object.assign(row, { state: 'done', until: now + this.policy!.retentionMs })
      this.table.counted.handled += 1
      return
    }
    row.attempts = attempt.number
    if ('routingToken' in result && result.routingToken !== undefined) {
      row.routingToken = result.routingToken
      row.attempts -= 1
    }
    if (result.outcome === 'dead') this.bury(row, result.error)
    else this.wait(row, result.delayMs, result.outcome === 'postponed')
  }

  protected wait(row: TableRow, delayMs: number, isPostponed: boolean): void {
    Object.assign(row, { state: 'waiting', until: this.now() + delayMs, isPostponed })
  }

  protected bury(row: TableRow, error: unknown): void {
    const [failedAt, place] = [this.letterTime(), this.table.nextNumber()]
    Object.assign(row, { state: 'dead', failedAt, place, reason: describeError(error) })
    this.table.counted.deadLettered += 1
  }

  /** Returns a withdrawn event without counting a crash. */
  protected release(held: Held): void {
    if (!this.owns(held)) return
    const { row, attempt } = held
    if (attempt.decision === 'run') row.crashes = 0
    Object.assign(row, { state: 'waiting', until: 0 })
  }

  protected redriveMany(keys: readonly string[]): Promise<readonly string[]> {
    return this.write(() =>
      this.dead(keys)
        .filter(row => this.revive(row))
        .map(({ delivery }) => delivery.key),
    )
  }

  protected revive(row: TableRow): boolean {
    const delivery = { ...row.delivery, queuedAt: this.table.now() }
    Object.assign(row, { delivery, state: 'waiting', until: 0, attempts: 0, crashes: 0, hasBegun: false })
    this.table.counted.received += 1
    return true
  }

  protected discardMany(keys: readonly string[]): Promise<readonly string[]> {
    return this.write(() => {
      const dead = this.dead(keys).map(({ delivery }) => delivery.key)
      for (const key of dead) this.table.rows.delete(key)
      return dead
    })
  }

  /** Stamps a letter. */
  protected letterTime(): number {
    return this.table.now()
  }

  /** The time to which the stamps of letters are compared. */
  protected letterNow(): number {
    return this.table.now()
  }

  protected async discardOlder({ failedBefore, limit }: OlderLetters): Promise<number> {
    const old = [...this.table.rows.values()]
      .filter(({ state, failedAt }) => state === 'dead' && failedAt < failedBefore)
      .sort((a, b) => a.failedAt - b.failedAt)
      .slice(0, limit)
    return (await this.discardMany(old.map(({ delivery }) => delivery.key))).length
  }

  protected dead(keys: readonly string[]): readonly TableRow[] {
    const rows = [...new Set(keys)].map(key => this.table.rows.get(key))
    return rows.filter(row => row !== undefined).filter(({ state }) => state === 'dead')
  }
}

function after(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}

function isOpen({ state }: TableRow): boolean {
  return state === 'waiting' || state === 'running'
}

function letterOf({ delivery, failedAt, attempts, reason, place }: TableRow): DeadLetter {
  const { key, namespace, id, type, body, receivedAt } = delivery
  return {
    ...{ key, namespace, id, type, receivedAt, failedAt, attempts, reason },
    body: new Uint8Array(body),
    cursor: String(place),
  }
}

function pageOf(rows: readonly TableRow[], limit: number): readonly TableRow[] {
  let bytes = 0
  const end = rows.findIndex(({ delivery }, index) => {
    bytes += delivery.body.length
    return index === limit || (index > 0 && bytes > PAGE_BYTES)
  })
  return end === -1 ? rows : rows.slice(0, end)
}
