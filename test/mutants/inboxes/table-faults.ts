import type { Delivery } from '@ackhook/core'
import type {
  AttemptResult,
  CountedSlot,
  OlderLetters,
  PresenceStore,
  ProcessEvent,
  ProcessingPolicy,
} from '@ackhook/core/spi'
import type { Mutants } from '../mutant.ts'
import type { TableRow } from './table.ts'
import { TableInbox } from './table-inbox.ts'
import { tableMutant } from './table-mutant.ts'

type Held = Parameters<TableInbox['release']>[0]

/** Changes the board when reading it. */
const reading = (
  change: (view: Awaited<ReturnType<PresenceStore['read']>>, ids: Set<string>) => typeof view,
) =>
  class extends TableInbox {
    readonly #ids = new Set<string>()
    override readonly board: PresenceStore = {
      publish: own => {
        this.#ids.add(own.id)
        return this.write(() => this.table.publish(own))
      },
      read: () => change(this.table.view(), this.#ids),
    }
  }

/** Changes a row after a result has been applied to it. */
const applying = (outcome: AttemptResult['outcome'], change: (row: TableRow) => void) =>
  class extends TableInbox {
    protected override apply(result: AttemptResult, held: Held): void {
      super.apply(result, held)
      if (result.outcome === outcome) change(held.row)
    }
  }

const clocks: Mutants = [
  tableMutant(
    'clock',
    { wrong: "decides everything by the process's clock", caughtBy: 'skew-ahead' },
    class extends TableInbox {
      protected override now(): number {
        return this.table.now() + this.aheadMs
      }
    },
  ),
  tableMutant(
    'clock-letter',
    { wrong: "stamps a dead letter by the process's clock", caughtBy: 'skew-letters-behind' },
    class extends TableInbox {
      protected override letterTime(): number {
        return super.letterTime() + this.aheadMs
      }
    },
  ),
  tableMutant(
    'clock-retention',
    { wrong: "tells the age of a dead letter by the process's clock", caughtBy: 'skew-letters-ahead' },
    class extends TableInbox {
      protected override letterNow(): number {
        return super.letterNow() + this.aheadMs
      }
    },
  ),
  tableMutant(
    'clock-lease',
    { wrong: "ends a lease by the process's clock", caughtBy: 'skew-behind' },
    class extends TableInbox {
      protected override extend(held: Held): void {
        super.extend(held)
        held.row.until += this.aheadMs
      }
    },
  ),
  tableMutant(
    'clock-accepted',
    { wrong: "makes an event due by the accepting process's clock", caughtBy: 'skew-accepted' },
    class extends TableInbox {
      protected override rowOf(delivery: Delivery, before: TableRow | undefined): TableRow {
        return { ...super.rowOf(delivery, before), until: this.table.now() + this.aheadMs }
      }
    },
  ),
  tableMutant(
    'clock-retry',
    { wrong: "makes a retry due by the process's clock", caughtBy: 'skew-retry-behind' },
    class extends TableInbox {
      protected override wait(row: TableRow, delayMs: number, isPostponed: boolean): void {
        super.wait(row, delayMs + this.aheadMs, isPostponed)
      }
    },
  ),
  tableMutant(
    'clock-retention',
    {
      wrong: "ends a retention by the handling process's clock",
      caughtBy: 'skew-retention-behind',
    },
    class extends TableInbox {
      protected override apply(result: AttemptResult, held: Held): void {
        super.apply(result, held)
        if (result.outcome === 'completed') held.row.until += this.aheadMs
      }
    },
  ),
  tableMutant(
    'clock-lookup',
    { wrong: "looks up an id by the accepting process's clock", caughtBy: 'skew-retention-behind' },
    class extends TableInbox {
      protected override find(key: string): TableRow | undefined {
        const row = super.find(key)
        return row?.state === 'done' && row.until <= this.now() + this.aheadMs ? undefined : row
      }
    },
  ),
]

const leases: Mutants = [
  tableMutant(
    'lease-kept',
    { wrong: 'renews no lease', caughtBy: 'skew-ahead' },
    class extends TableInbox {
      override renew(): void {}
    },
  ),
  tableMutant(
    'lease-endless',
    { wrong: 'never takes over events of a dead process', caughtBy: 'crash-running' },
    class extends TableInbox {
      protected override extend({ row }: Held): void {
        row.until = Number.POSITIVE_INFINITY
      }
    },
  ),
  tableMutant(
    'crash-uncounted',
    { wrong: 'does not count a lapsed lease as a crash', caughtBy: 'crash-count' },
    class extends TableInbox {
      protected override countCrash(row: TableRow): void {
        super.countCrash(row)
        row.crashes = 0
      }
    },
  ),
  tableMutant(
    'crash-done',
    { wrong: 'treats an event with a lapsed lease as handled', caughtBy: 'crash-running' },
    class extends TableInbox {
      protected override countCrash(row: TableRow): void {
        Object.assign(row, { state: 'done', until: Number.POSITIVE_INFINITY })
      }
    },
  ),
  tableMutant(
    'drain-crash',
    { wrong: 'lets the lease of a withdrawn attempt lapse', caughtBy: 'drain-no-crash' },
    class extends TableInbox {
      protected override release(): void {}
    },
  ),
  tableMutant(
    'withdrawn-counts',
    { wrong: 'records the result of a withdrawn attempt', caughtBy: 'drain-withdrawn' },
    class extends TableInbox {
      protected override record(result: AttemptResult, held: Held): void {
        this.apply(result, held)
      }
      protected override release(held: Held): void {
        super.release(held)
        held.row.until = this.now() + 1500
      }
    },
  ),
  {
    ...tableMutant(
      'late-counts',
      { wrong: 'records the result of an attempt whose lease has lapsed', caughtBy: 'crash-running' },
      class extends TableInbox {
        protected override record(result: AttemptResult, held: Held): void {
          if (held.attempt.abortReason === undefined) this.apply(result, held)
          else super.record(result, held)
        }
      },
    ),
    mayPass: 'no hook lets the lease of a live process lapse',
  },
]

const sharing: Mutants = [
  tableMutant(
    'take-race',
    { wrong: 'reads the next event and takes it in two steps', caughtBy: 'durable-share' },
    class extends TableInbox {
      override take(): void {
        const row =
          this.isClosed || this.held.size >= (this.policy?.concurrency ?? 0) ? undefined : this.next()
        setImmediate(() => {
          if (row !== undefined && !this.isClosed && !this.table.isFailing) this.begin(row)
        })
      }
    },
  ),
  tableMutant(
    'take-own',
    { wrong: 'runs only events that the process itself accepted', caughtBy: 'durable-split' },
    class extends TableInbox {
      readonly #own = new Set<string>()
      protected override rowOf(delivery: Delivery, before: TableRow | undefined): TableRow {
        this.#own.add(delivery.key)
        return super.rowOf(delivery, before)
      }
      protected override hasTurn(row: TableRow, open: readonly TableRow[]): boolean {
        return this.#own.has(row.delivery.key) && super.hasTurn(row, open)
      }
    },
  ),
  tableMutant(
    'receiver-runs',
    { wrong: 'runs events in a process that only receives', caughtBy: 'durable-split' },
    class extends TableInbox {
      override start(run: ProcessEvent, policy: ProcessingPolicy): Promise<void> {
        return super.start(run, { ...policy, concurrency: Math.max(1, policy.concurrency) })
      }
    },
  ),
  tableMutant(
    'order-own',
    { wrong: 'runs events of one key one at a time in each process', caughtBy: 'shared-order' },
    class extends TableInbox {
      protected override hasTurn(row: TableRow, open: readonly TableRow[]): boolean {
        const isElsewhere = (one: TableRow) => one.state === 'running' && !this.held.has(one.delivery.key)
        return super.hasTurn(
          row,
          open.filter(one => one === row || !isElsewhere(one)),
        )
      }
    },
  ),
  tableMutant(
    'redrive-race',
    { wrong: 'reads the dead letters and redrives them in two steps', caughtBy: 'dead-redrive-race' },
    class extends TableInbox {
      protected override async redriveMany(keys: readonly string[]): Promise<readonly string[]> {
        const dead = this.dead(keys)
        await this.write(() => dead.filter(row => this.revive(row)))
        return dead.map(({ delivery }) => delivery.key)
      }
    },
  ),
  tableMutant(
    'redrive-race-shared',
    { wrong: 'separates redrives only within one process', caughtBy: 'shared-redrive-race' },
    class extends TableInbox {
      #last: Promise<unknown> = Promise.resolve()
      protected override redriveMany(keys: readonly string[]): Promise<readonly string[]> {
        const redriven = this.#last.then(async () => {
          const dead = this.dead(keys)
          await this.write(() => dead.filter(row => this.revive(row)))
          return dead.map(({ delivery }) => delivery.key)
        })
        this.#last = redriven.catch(() => {})
        return redriven
      }
    },
  ),
  tableMutant(
    'board-own',
    { wrong: 'reads only entries that the process itself published', caughtBy: 'durable-board' },
    reading((view, ids) => ({ ...view, processes: view.processes.filter(({ id }) => ids.has(id)) })),
  ),
  tableMutant(
    'board-aged',
    { wrong: 'reports that every process was seen an hour ago', caughtBy: 'durable-board' },
    reading(view => ({ ...view, processes: view.processes.map(one => ({ ...one, seenMs: 3_600_000 })) })),
  ),
  tableMutant(
    'board-drained',
    { wrong: "drops a process's entry when it closes", caughtBy: 'durable-board-kept' },
    class extends TableInbox {
      readonly #ids = new Set<string>()
      override readonly board: PresenceStore = {
        publish: own => {
          this.#ids.add(own.id)
          return this.write(() => this.table.publish(own))
        },
        read: () => this.table.view(),
      }
      override close(timeoutMs: number) {
        for (const id of this.#ids) this.table.unpublish(id)
        return super.close(timeoutMs)
      }
    },
  ),
  tableMutant(
    'board-endless',
    { wrong: "keeps a process's entry forever", caughtBy: 'durable-board-kept' },
    class extends TableInbox {
      override readonly board: PresenceStore = {
        publish: own => this.write(() => this.table.publish({ ...own, keepMs: own.keepMs * 1000 })),
        read: () => this.table.view(),
      }
    },
  ),
]

const postponing: Mutants = [
  tableMutant(
    'postponed-uncounted',
    { wrong: 'does not count postponed events', caughtBy: 'durable-postpone' },
    reading(view => ({ ...view, postponed: 0 })),
  ),
  tableMutant(
    'postponed-attempt',
    { wrong: 'counts a postponement as an attempt', caughtBy: 'durable-postpone' },
    applying('postponed', row => {
      row.attempts += 1
    }),
  ),
  tableMutant(
    'postponed-at-once',
    { wrong: 'runs a postponed event at once', caughtBy: 'durable-postpone' },
    applying('postponed', row => {
      row.until = 0
    }),
  ),
  tableMutant(
    'postponed-turn',
    { wrong: 'lets others overtake a postponed event', caughtBy: 'durable-postpone-order' },
    applying('postponed', row => {
      row.hasBegun = false
    }),
  ),
  tableMutant(
    'postponed-retry-turn',
    {
      wrong: 'lets others overtake the retry of an event that was postponed',
      caughtBy: 'order-postponed-retry',
    },
    applying('retry', row => {
      row.hasBegun = row.routingToken === 0
    }),
  ),
  tableMutant(
    'postponed-own',
    {
      wrong: 'leaves a postponed event to the same process',
      caughtBy: 'durable-postpone-other',
    },
    class extends TableInbox {
      readonly #own = new Set<string>()
      protected override wait(row: TableRow, delayMs: number, isPostponed: boolean): void {
        super.wait(row, delayMs, isPostponed)
        if (isPostponed) this.#own.add(row.delivery.key)
      }
      protected override hasTurn(row: TableRow, open: readonly TableRow[]): boolean {
        return (!row.isPostponed || this.#own.has(row.delivery.key)) && super.hasTurn(row, open)
      }
    },
  ),
  tableMutant(
    'token-retry',
    { wrong: 'loses the routing token at a retry', caughtBy: 'durable-postpone' },
    applying('retry', row => {
      row.routingToken = 0
    }),
  ),
  tableMutant(
    'token-redrive',
    { wrong: 'loses the routing token at a redrive', caughtBy: 'durable-postpone-dead' },
    class extends TableInbox {
      protected override revive(row: TableRow): boolean {
        row.routingToken = 0
        return super.revive(row)
      }
    },
  ),
  tableMutant(
    'token-redelivery',
    { wrong: 'loses the routing token of a redelivered dead letter', caughtBy: 'durable-postpone-dead' },
    class extends TableInbox {
      protected override rowOf(delivery: Delivery): TableRow {
        return super.rowOf(delivery, undefined)
      }
    },
  ),
]

const counting: Mutants = [
  tableMutant(
    'activity-overwritten',
    { wrong: 'reads counts before it writes them', caughtBy: 'activity-shared' },
    class extends TableInbox {
      protected override async addActivity(slots: readonly CountedSlot[]): Promise<void> {
        for (const { startedAt, lengthMs, counts } of slots) {
          const known = this.table.activity.get(`${lengthMs} ${startedAt}`)
          const sums = this.sumOf(known?.counts ?? {}, counts)
          await this.write(() => this.keepActivity({ startedAt, lengthMs, counts: sums }))
        }
      }
    },
  ),
  tableMutant(
    'activity-last-lost',
    { wrong: 'drops the last counts when it closes', caughtBy: 'activity-end' },
    class extends TableInbox {
      protected override async endActivity(): Promise<void> {}
    },
  ),
  tableMutant(
    'counts-process',
    { wrong: 'counts events only since the process began', caughtBy: 'reopen-counts' },
    class extends TableInbox {
      #before = { received: 0, handled: 0, deadLettered: 0 }
      override start(run: ProcessEvent, policy: ProcessingPolicy): Promise<void> {
        this.#before = { ...this.table.counted }
        return super.start(run, policy)
      }
      override async throughput() {
        const { received, handled, deadLettered } = this.table.counted
        const before = this.#before
        return [
          {
            startedAt: this.table.now(),
            received: received - before.received,
            handled: handled - before.handled,
            deadLettered: deadLettered - before.deadLettered,
          },
        ]
      }
    },
  ),
  tableMutant(
    'counts-redrive',
    { wrong: 'does not count a redrive as received', caughtBy: 'counts' },
    class extends TableInbox {
      protected override revive(row: TableRow): boolean {
        this.table.counted.received -= 1
        return super.revive(row)
      }
    },
  ),
  tableMutant(
    'counts-discard',
    { wrong: 'removes a discarded letter from the count', caughtBy: 'reopen-counts' },
    class extends TableInbox {
      protected override async discardMany(keys: readonly string[]): Promise<readonly string[]> {
        const discarded = await super.discardMany(keys)
        this.table.counted.deadLettered -= discarded.length
        return discarded
      }
    },
  ),
  tableMutant(
    'drops-younger',
    { wrong: 'drops letters that failed at the given time or after it', caughtBy: 'dead-older' },
    class extends TableInbox {
      protected override discardOlder(query: OlderLetters): Promise<number> {
        return super.discardOlder({ ...query, failedBefore: query.failedBefore + 60_000 })
      }
    },
  ),
  tableMutant(
    'drops-too-many',
    { wrong: 'drops more letters than the limit', caughtBy: 'dead-older' },
    class extends TableInbox {
      protected override discardOlder(query: OlderLetters): Promise<number> {
        return super.discardOlder({ ...query, limit: query.limit + 1 })
      }
    },
  ),
  tableMutant(
    'drops-never',
    { wrong: 'keeps dead letters beyond their retention', caughtBy: 'dead-retention' },
    class extends TableInbox {
      override start(run: ProcessEvent, policy: ProcessingPolicy): Promise<void> {
        return super.start(run, { ...policy, deadLetterRetentionMs: undefined })
      }
    },
  ),
  tableMutant(
    'drops-early',
    { wrong: 'drops dead letters after half of their retention', caughtBy: 'dead-retention' },
    class extends TableInbox {
      override start(run: ProcessEvent, policy: ProcessingPolicy): Promise<void> {
        const { deadLetterRetentionMs: ms } = policy
        return super.start(run, { ...policy, deadLetterRetentionMs: ms && ms / 4 })
      }
    },
  ),
  tableMutant(
    'erase-not',
    { wrong: 'says that it has erased an event, and keeps it', caughtBy: 'erase-waiting' },
    class extends TableInbox {
      protected override async eraseWaiting(key: string): Promise<boolean> {
        return this.table.rows.get(key)?.state === 'waiting'
      }
    },
  ),
  tableMutant(
    'erase-any',
    { wrong: 'erases a dead letter as if it waited', caughtBy: 'erase-waiting' },
    class extends TableInbox {
      protected override eraseWaiting(key: string): Promise<boolean> {
        return this.write(() => this.table.rows.get(key)?.state !== 'running' && this.table.rows.delete(key))
      }
    },
  ),
  tableMutant(
    'scan-waiting',
    { wrong: 'leaves out dead letters when it scans', caughtBy: 'erase-scan' },
    class extends TableInbox {
      protected override async *scan(): AsyncIterable<readonly string[]> {
        for (const { state, delivery } of [...this.table.rows.values()])
          if (state === 'waiting' || state === 'running') yield [delivery.key]
      }
    },
  ),
  tableMutant(
    'scan-piece',
    { wrong: 'ends a scan after the first piece', caughtBy: 'erase-scan' },
    class extends TableInbox {
      protected override async *scan(): AsyncIterable<readonly string[]> {
        for await (const piece of super.scan()) return yield piece
      }
    },
  ),
  tableMutant(
    'room-endless',
    { wrong: 'accepts events without room for them', caughtBy: 'room-full' },
    class extends TableInbox {
      protected override hasRoom(): boolean {
        return true
      }
    },
  ),
  tableMutant(
    'room-drops',
    { wrong: 'makes room by dropping the oldest waiting event', caughtBy: 'room-full' },
    class extends TableInbox {
      #left = 3
      protected override hasRoom(delivery: Delivery): boolean {
        const waiting = [...this.table.rows].find(([, { state }]) => state === 'waiting')
        if (super.hasRoom(delivery) || waiting === undefined || this.#left === 0)
          return super.hasRoom(delivery)
        this.#left -= 1
        this.table.rows.delete(waiting[0])
        return true
      }
    },
  ),
]

/** Faults of processes that share events, and of their counts. */
/** Begins only once this process has taken as many events as it may, and renews no lease before that. */
class TakesAllFirst extends TableInbox {
  readonly #begun = new Set<unknown>()

  protected override async crosses(): Promise<void> {
    await super.crosses()
    const isFull = () => this.held.size >= this.policy!.concurrency || this.next() === undefined
    while (this.held.size > this.#begun.size && !isFull())
      await new Promise(resolve => setTimeout(resolve, 5))
  }

  protected override mayBegin(held: Held): boolean {
    this.#begun.add(held)
    return true
  }

  override renew(): void {
    for (const held of this.held.values()) if (this.#begun.has(held) && this.owns(held)) this.extend(held)
  }
}

const taking: Mutants = [
  tableMutant(
    'take-all',
    { wrong: 'begins no event before it has taken as many as it may', caughtBy: 'take-slow' },
    TakesAllFirst,
  ),
  tableMutant(
    'take-stopped',
    { wrong: 'begins what it took before it was stopped', caughtBy: 'take-stopped' },
    class extends TableInbox {
      protected override mayBegin(): boolean {
        return true
      }
    },
  ),
  tableMutant(
    'take-hangs',
    { wrong: 'begins what it took before its connection fell silent', caughtBy: 'take-hangs' },
    class extends TableInbox {
      #wasSilent = false

      protected override async crosses(): Promise<void> {
        await super.crosses()
        this.#wasSilent ||= this.isSilent
      }

      override renew(): void {
        this.#wasSilent ||= this.isSilent
        super.renew()
      }

      protected override mayBegin(held: Held): boolean {
        return this.#wasSilent || super.mayBegin(held)
      }
    },
  ),
  tableMutant(
    'take-stopped-order',
    { wrong: 'begins an event of a key that another process has handled', caughtBy: 'take-stopped-order' },
    class extends TableInbox {
      protected override mayBegin(held: Held): boolean {
        return held.row.delivery.order !== undefined || super.mayBegin(held)
      }
    },
  ),
]

export const mutants: Mutants = [...clocks, ...taking, ...leases, ...sharing, ...postponing, ...counting]
