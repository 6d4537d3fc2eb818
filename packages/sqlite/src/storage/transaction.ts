import { type Arrival, type Batch, withoutNul } from '../protocol/batch.ts'
import type { Admission, BatchResult, TakenRow } from '../protocol/batch-result.ts'
import type { StoragePolicy } from '../protocol/storage-policy.ts'
import type { Connection } from './connection.ts'
import { count, type Running } from './leases/own-leases.ts'
import type { TakenHead } from './rows/ordered-keys.ts'
import { NOT_PAUSED, type Paused } from './rows/pauses.ts'
import { isWrite } from './rows/queries.ts'

/** Runs batches in one transaction, with one wait for the disk. */
export function commit(
  connection: Connection,
  batches: readonly Batch[],
  policy: StoragePolicy,
): BatchResult[] {
  const now = Date.now()
  const transaction = new BatchTransaction(connection, batches, policy, now)
  const hasArrivals = batches.some(({ arrivals }) => arrivals.length > 0)
  return transaction.needsTransaction()
    ? connection.transaction(() => transaction.change(), hasArrivals)
    : transaction.onlyRead()
}

const NO_ARRIVALS: ReadonlyMap<string, number> = new Map()

/** Work of one transaction: settles results, takes rows, admits arrivals. */
class BatchTransaction {
  readonly #connection: Connection
  readonly #batches: readonly Batch[]
  readonly #policy: StoragePolicy
  readonly #now: number
  /** Number of rows that the batches may take together. */
  readonly #wanted: number
  #paused: Paused = NOT_PAUSED
  /** Rows that run in this process, with the taken ones. */
  #running: Running | undefined
  /** Rows taken, including arrivals that find a free slot. */
  readonly #taken: TakenRow[] = []
  /** Taken rows that have an ordering key. */
  readonly #heads: TakenHead[] = []
  /** Refs by key of accepted arrivals with an ordering key: `take` decides whether one may run. */
  readonly #ordered = new Map<string, number>()

  constructor(connection: Connection, batches: readonly Batch[], policy: StoragePolicy, now: number) {
    this.#connection = connection
    this.#batches = batches
    this.#policy = policy
    this.#now = now
    this.#wanted = batches.reduce((sum, { take }) => sum + take, 0)
  }

  needsTransaction(): boolean {
    const writes = ({ arrivals, settlements, checks, queries }: Batch): boolean =>
      arrivals.length + settlements.length + checks.length > 0 || queries.some(isWrite)
    if (this.#batches.some(writes)) return true
    this.#readPauses()
    return this.#wanted > 0 && this.#connection.take.isDue(this.#policy, this.#paused, this.#now)
  }

  /** Takes no row: without the lock of a transaction another process could take it too. */
  onlyRead(): BatchResult[] {
    return this.#results(this.#batches.map(() => ({ settled: [], admissions: [] })))
  }

  change(): BatchResult[] {
    // Settles first, which makes room, and lets the next event of an ordering key run.
    const settled = this.#batches.map(batch => this.#settle(batch))
    this.#readPauses()
    this.#take(NO_ARRIVALS)
    const admissions = this.#batches.map(batch => this.#admitAll(batch))
    if (this.#ordered.size > 0) this.#take(this.#ordered)
    this.#readAhead()
    return this.#results(settled.map((one, index) => ({ settled: one, admissions: admissions[index] ?? [] })))
  }

  #settle({ settlements }: Batch): boolean[] {
    if (settlements.length === 0) return []
    const times = { now: this.#now, stamp: this.#connection.clock.read().stamp }
    return settlements.map(one => this.#connection.settle.apply(one, this.#policy.leaseMs, times))
  }

  get #mayTake(): boolean {
    return this.#wanted > 0 && !this.#paused.coversAll
  }

  /** Also where nothing is taken: each process tells what is paused. */
  #readPauses(): void {
    this.#paused = this.#connection.pauses.read()
  }

  #runningNow(): Running {
    if (this.#running === undefined) {
      this.#running = this.#connection.own.runningAfter(this.#batches.flatMap(batch => batch.settlements))
      for (const row of this.#taken) count(this.#running, row)
    }
    return this.#running
  }

  #take(arrivals: ReadonlyMap<string, number>): void {
    const free = this.#wanted - this.#taken.length
    if (free <= 0) return
    const context = {
      arrivals,
      policy: this.#policy,
      paused: this.#paused,
      running: () => this.#runningNow(),
      now: this.#now,
    }
    for (const { row, isOrdered, crashes } of this.#connection.take.rows(free, context)) {
      if (this.#running !== undefined && this.#policy.groups === undefined) count(this.#running, row)
      this.#taken.push(row)
      if (isOrdered) this.#heads.push({ row, crashes })
    }
  }

  #readAhead(): void {
    if (this.#heads.length === 0) return
    const { keys, take } = this.#connection
    const limit = Math.max(...this.#batches.map(({ readAhead }) => readAhead))
    keys.readAhead(this.#heads, { limit, paused: this.#paused, newToken: () => take.newToken(this.#policy) })
  }

  #admitAll({ arrivals, firstRef }: Batch): Admission[] {
    if (arrivals.length === 0) return []
    const { judged } = this.#connection.clock.read()
    return arrivals.map((arrival, index) => this.#admit(arrival, firstRef + index, judged))
  }

  #admit(arrival: Arrival, ref: number, judged: number): Admission {
    const { insert, take } = this.#connection
    const { key, type, order } = arrival
    const group = arrival.group === undefined ? null : withoutNul(arrival.group)
    const hasSlot = this.#taken.length < this.#wanted
    const runsAtOnce = order === undefined && hasSlot && this.#mayRun(type, group)
    const token = runsAtOnce ? take.newToken(this.#policy) : null
    const leasedUntil = this.#now + this.#policy.leaseMs
    const row = { arrival, group, now: this.#now, judged, token, leasedUntil }
    const { admission, seq, mark = 0 } = insert.admit(row, this.#policy.capacity)
    if (seq === undefined) return admission
    if (token !== null) this.#run({ seq, token, attempt: 1, decision: 'run', mark, ref }, group)
    else if (order !== undefined) this.#ordered.set(key, ref)
    return admission
  }

  /** A slot that the takes have left free is for any group that has not all of its own. */
  #mayRun(type: string, group: string | null): boolean {
    const { groups } = this.#policy
    if (this.#paused.covers(type)) return false
    return groups === undefined || (this.#runningNow().byGroup.get(group ?? '') ?? 0) < groups.limit
  }

  #run(row: TakenRow, group: string | null): void {
    if (group !== null) {
      row.group = group
      count(this.#runningNow(), row)
    }
    this.#taken.push(row)
  }

  #results(recorded: readonly Pick<BatchResult, 'settled' | 'admissions'>[]): BatchResult[] {
    const { settle, queries } = this.#connection
    const nextDueMs = this.#nextDueMs()
    const paused = this.#connection.pauses.changed(this.#paused)
    return this.#batches.map((batch, index) => ({
      settled: recorded[index]?.settled ?? [],
      admissions: recorded[index]?.admissions ?? [],
      stillHeld: batch.checks.map(lease => settle.renew(lease, this.#policy.leaseMs, this.#now)),
      found: batch.queries.map(query => queries.run(query, this.#now)),
      taken: this.#taken.splice(0, batch.take),
      nextDueMs,
      paused,
    }))
  }

  /** Returns `undefined` if more rows may be due, or if none was wanted. */
  #nextDueMs(): number | undefined {
    if (!this.#mayTake || this.#taken.length === this.#wanted) return undefined
    return this.#connection.take.nextDueMs(this.#policy, this.#now)
  }
}
