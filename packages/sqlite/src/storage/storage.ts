import { randomBytes } from 'node:crypto'
import type { Batch, BatchResult, TakenRow, Terms } from '../engine/protocol.ts'
import { type Connection, createConnection } from './connection.ts'
import type { SqliteDatabase } from './database.ts'
import { type Fault, FULL, faultOf, spoilsConnection, sqliteCode } from './fault.ts'
import { prepareDatabase } from './open-database.ts'
import { isWrite } from './queries.ts'

/** The file, as the thread that works on it sees it. */
export interface Storage {
  /** Opens the file unless it is open. Throws what is wrong with it. */
  open(): void
  /** Runs batches as one: one transaction, one wait for the disk. Never throws. */
  run(batches: readonly Batch[], terms: Terms): BatchResult[]
  /** Forgets some ids that are past their retention. Whether there may be more of them. Never throws. */
  prune(): boolean
  close(): void
}

/** `reopens`: whether `open` can be called again, after a failure that a connection does not survive. */
export function createStorage(openDatabase: () => SqliteDatabase, reopens: boolean): Storage {
  // New for every connection: leases of an earlier one are nobody's once they lapse.
  let connection: Connection | undefined

  function open(): Connection {
    if (connection !== undefined) return connection
    const database = openDatabase()
    try {
      prepareDatabase(database)
      connection = createConnection(database, `${randomBytes(9).toString('base64url')}:`)
      return connection
    } catch (error) {
      if (reopens) closeQuietly(database)
      throw error
    }
  }

  function recover(error: unknown): void {
    if (!reopens || !spoilsConnection(error)) return
    if (connection !== undefined) closeQuietly(connection)
    connection = undefined
  }

  function attempt(batches: readonly Batch[], terms: Terms): BatchResult[] {
    const on = open()
    try {
      return commit(on, batches, terms)
    } catch (error) {
      if (sqliteCode(error) !== FULL) throw error
      on.checkpoint()
      return commit(on, batches, terms)
    }
  }

  return {
    open() {
      open()
    },
    run(batches, terms) {
      try {
        return attempt(batches, terms)
      } catch (error) {
        recover(error)
        const fault = faultOf(error)
        return batches.map(batch => withoutArrivals(batch, fault, terms, attempt, recover))
      }
    },
    prune() {
      if (connection === undefined) return false
      try {
        return connection.prune.bite(Date.now())
      } catch (error) {
        recover(error)
        return false
      }
    },
    close() {
      if (connection !== undefined && reopens) connection.close()
      connection = undefined
    },
  }
}

/** What is handled must not stay unrecorded for want of room for what arrives. */
function withoutArrivals(
  batch: Batch,
  fault: Fault,
  terms: Terms,
  attempt: (batches: readonly Batch[], terms: Terms) => BatchResult[],
  recover: (error: unknown) => void,
): BatchResult {
  const failed = {
    admissions: fault,
    settled: fault,
    renewed: fault,
    answers: fault,
    taken: [],
    abandoned: [],
  }
  const { settlements, renewals, queries } = batch
  if (settlements.length + renewals.length + queries.length === 0) return failed
  try {
    const [result] = attempt([{ ...batch, arrivals: [], take: 0 }], terms)
    return { ...failed, ...result, admissions: fault }
  } catch (error) {
    recover(error)
    return failed
  }
}

function commit(on: Connection, batches: readonly Batch[], terms: Terms): BatchResult[] {
  const now = Date.now()
  on.tally.refresh(now)
  return needsTransaction(on, batches, now)
    ? on.transaction(() => work(on, batches, terms, now, true))
    : work(on, batches, terms, now, false)
}

function needsTransaction(on: Connection, batches: readonly Batch[], now: number): boolean {
  return (
    batches.some(
      ({ arrivals, settlements, renewals, queries }) =>
        arrivals.length + settlements.length + renewals.length > 0 || queries.some(isWrite),
    ) ||
    (batches.some(({ take }) => take > 0) && on.handOut.isDue(now))
  )
}

/** Nothing is handed out without the lock of a transaction: another process could hand out the same row. */
function work(
  on: Connection,
  batches: readonly Batch[],
  terms: Terms,
  now: number,
  locked: boolean,
): BatchResult[] {
  const fresh = new Map<string, number>()
  const results = batches.map(batch => ({
    // Settled first: it makes room, and lets the next of a key go ahead.
    settled: batch.settlements.map(one => on.settlements.apply(one, now)),
    renewed: batch.renewals.map(one => on.settlements.renew(one, terms.leaseMs, now)),
    admissions: admitAll(on, batch, fresh, terms, now),
    answers: batch.queries.map(one => on.queries.answer(one, now)),
  }))
  const wanted = batches.reduce((sum, { take }) => sum + take, 0)
  if (wanted === 0 || !locked) {
    return results.map(result => ({ ...result, ...NOTHING, ...nextDue(on, wanted, now) }))
  }
  const { taken, abandoned } = on.handOut.take(wanted, fresh, terms, now)
  const next = taken.length < wanted ? nextDue(on, wanted, now) : {}
  return results.map((result, index) => ({
    ...result,
    taken: taken.splice(0, batches[index]?.take),
    abandoned: index === 0 ? abandoned : [],
    ...next,
  }))
}

const NOTHING: { readonly taken: readonly TakenRow[]; readonly abandoned: readonly [] } = {
  taken: [],
  abandoned: [],
}

function nextDue(on: Connection, wanted: number, now: number): { nextDueMs?: number } {
  const nextDueMs = wanted === 0 ? undefined : on.handOut.nextDueMs(now)
  return nextDueMs === undefined ? {} : { nextDueMs }
}

function admitAll(on: Connection, batch: Batch, fresh: Map<string, number>, terms: Terms, now: number) {
  let offset = 0
  return batch.arrivals.map(arrival => {
    const [ref, key, , , , , , bytes] = arrival
    const body = batch.bytes.subarray(offset, offset + bytes)
    offset += bytes
    const admission = on.arrivals.admit(arrival, body, terms.capacity, now)
    if (admission === 'accepted') fresh.set(key, ref)
    return admission
  })
}

function closeQuietly(database: { close(): unknown }): void {
  try {
    database.close()
  } catch {}
}
