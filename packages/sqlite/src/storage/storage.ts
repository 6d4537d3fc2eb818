import { randomBytes } from 'node:crypto'
import type { Admission, Batch, BatchResult, TakenRow, Terms } from '../protocol.ts'
import { type Connection, createConnection } from './connection.ts'
import type { SqliteDatabase } from './database.ts'
import { type Fault, FULL, faultOf, spoilsConnection, sqliteCode } from './fault.ts'
import { type FileIdentity, fileIdentity } from './file-identity.ts'
import type { OwnLeases } from './leases/own-leases.ts'
import { isWrite } from './rows/queries.ts'
import { prepareDatabase } from './schema/open-database.ts'

/** The file, as the thread that works on it sees it. */
export interface Storage {
  /** Opens the file unless it is open. Throws what is wrong with it. */
  open(): void
  /** Runs batches as one: one transaction, one wait for the disk. Never throws. */
  run(batches: readonly Batch[], terms: Terms): BatchResult[]
  /** Renews every lease that was handed out here or asked about here, and has not ended. Never throws. */
  renew(leaseMs: number): void
  /** Watches the leases of others. Only reads; never throws. */
  watch(leaseMs: number): void
  /** Forgets some ids that are past their retention. Whether there may be more of them. Never throws. */
  prune(): boolean
  close(): void
}

/**
 * `path`: what `openDatabase` opens. It can be called again then, after a failure that a connection does not
 * survive. Without one, the database is the user's.
 */
export function createStorage(openDatabase: () => SqliteDatabase, path?: string): Storage {
  const own: OwnLeases = new Map()
  const reopens = path !== undefined
  let connection: Connection | undefined
  let file: FileIdentity | undefined

  function open(): Connection {
    if (connection !== undefined) return connection
    const database = openDatabase()
    try {
      prepareDatabase(database)
      file = path === undefined ? undefined : fileIdentity(path)
      connection = createConnection(database, randomBytes(9).toString('base64url'), own)
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
    if (own.size > 0) holdFile()
  }

  /** For who starts meanwhile: a file that nobody has open has no living owner of a lease. */
  function holdFile(): void {
    try {
      open()
    } catch {
      // The next transaction tries again, and says why it fails.
    }
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

  function runSafely(batches: readonly Batch[], terms: Terms): BatchResult[] {
    if (batches.some(({ arrivals }) => arrivals.length > 0) && file?.isInPlace() === false) {
      const rest = batches.map(batch => ({ ...batch, arrivals: [] }))
      return runSafely(rest, terms).map(result => ({ ...result, admissions: GONE }))
    }
    try {
      return attempt(batches, terms)
    } catch (error) {
      recover(error)
      return withoutArrivals(batches, terms, faultOf(error))
    }
  }

  /** What is handled must not stay unrecorded for want of room for what arrives. */
  function withoutArrivals(batches: readonly Batch[], terms: Terms, fault: Fault): BatchResult[] {
    const failed = { admissions: fault, settled: fault, stillHeld: fault, answers: fault, taken: fault }
    const rest = batches.map(batch => ({ ...batch, arrivals: [], take: 0 }))
    if (rest.every(isEmpty)) return batches.map(() => failed)
    try {
      // All of them at once: where another process holds the file, every try waits for a second.
      return attempt(rest, terms).map(result => ({ ...result, admissions: fault, taken: fault }))
    } catch (error) {
      recover(error)
      return batches.map(() => failed)
    }
  }

  return {
    open() {
      open()
    },
    run(batches, terms) {
      const results = runSafely(batches, terms)
      for (const [index, batch] of batches.entries()) keepTrack(own, batch, results[index])
      return results
    },
    renew(leaseMs) {
      if (connection === undefined || own.size === 0) return
      try {
        renewAll(connection, own, leaseMs)
      } catch (error) {
        // The next time comes before the lease ends.
        recover(error)
      }
    },
    watch(leaseMs) {
      try {
        connection?.handOut.watch(leaseMs)
      } catch (error) {
        recover(error)
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

/** No later process would find what arrives. What is in the file goes on, for as long as this one lives. */
const GONE: Fault = {
  kind: 'storage',
  message:
    'the file was deleted, moved or replaced while it was open: put it back, or restart this process to work with what is there now',
}

function isEmpty({ settlements, held, queries }: Batch): boolean {
  return settlements.length + held.length + queries.length === 0
}

function commit(on: Connection, batches: readonly Batch[], terms: Terms): BatchResult[] {
  const now = Date.now()
  on.tally.refresh(now)
  return needsTransaction(on, batches, terms, now)
    ? on.transaction(() => work(on, batches, terms, now, true))
    : work(on, batches, terms, now, false)
}

function needsTransaction(on: Connection, batches: readonly Batch[], terms: Terms, now: number): boolean {
  return (
    batches.some(
      ({ arrivals, settlements, queries }) =>
        arrivals.length + settlements.length > 0 || queries.some(isWrite),
    ) ||
    (batches.some(({ take }) => take > 0) && on.handOut.isDue(terms, now))
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
  // Settled first: it makes room, and lets the next of a key go ahead.
  const settled = batches.map(batch => batch.settlements.map(one => on.settlements.apply(one, now)))
  const wanted = locked ? batches.reduce((sum, { take }) => sum + take, 0) : 0
  const taken = wanted > 0 ? on.handOut.take(wanted, NO_ARRIVALS, terms, now) : []
  const admissions = admitAll(on, batches, { taken, wanted, terms, now })
  const next = taken.length < wanted || !locked ? nextDue(on, batches, terms, now) : {}
  return batches.map((batch, index) => ({
    settled: settled[index] ?? [],
    stillHeld: batch.held.map(on.settlements.isHeld),
    admissions: admissions[index] ?? [],
    answers: batch.queries.map(one => on.queries.answer(one, now)),
    taken: taken.splice(0, batch.take),
    ...next,
  }))
}

const NO_ARRIVALS: ReadonlyMap<string, number> = new Map()

interface Room {
  /** What is handed out; what arrives and finds a free slot is added to it. */
  readonly taken: TakenRow[]
  readonly wanted: number
  readonly terms: Terms
  readonly now: number
}

function admitAll(on: Connection, batches: readonly Batch[], room: Room): Admission[][] {
  const { taken, wanted, terms, now } = room
  /** By key, what was accepted in an order of its own: whether it may run is for the hand-out to say. */
  const ordered = new Map<string, number>()
  const admissions = batches.map(({ arrivals, bytes }) => {
    let offset = 0
    return arrivals.map(arrival => {
      const [ref, key, , , , , , length, orderKey] = arrival
      const body = bytes.subarray(offset, offset + length)
      offset += length
      const runs = orderKey === null && taken.length < wanted
      // Stored as running: storing it as waiting and handing it out would write the row twice.
      const lease = runs ? { token: on.handOut.newToken(terms), until: now + terms.leaseMs } : null
      const { admission, seq } = on.arrivals.admit(arrival, body, terms.capacity, now, lease)
      if (seq !== undefined && lease !== null) {
        taken.push({ seq, token: lease.token, attempt: 1, decision: 'run', ref })
      } else if (seq !== undefined && orderKey !== null) ordered.set(key, ref)
      return admission
    })
  })
  if (ordered.size > 0 && taken.length < wanted) {
    taken.push(...on.handOut.take(wanted - taken.length, ordered, terms, now))
  }
  return admissions
}

function nextDue(
  on: Connection,
  batches: readonly Batch[],
  terms: Terms,
  now: number,
): { nextDueMs?: number } {
  const nextDueMs = batches.every(({ take }) => take === 0) ? undefined : on.handOut.nextDueMs(terms, now)
  return nextDueMs === undefined ? {} : { nextDueMs }
}

/** After the transaction: what was not committed has changed nobody's leases. */
function keepTrack(own: OwnLeases, batch: Batch, result: BatchResult | undefined): void {
  const isRecorded = result !== undefined && !('kind' in result.settled)
  for (const { kind, token } of batch.settlements) {
    // Nobody repeats a release that failed: that lease is left to lapse.
    if (isRecorded || kind === 'release') own.delete(token)
  }
  for (const { token, seq } of batch.held) own.set(token, seq)
  if (result === undefined || 'kind' in result.taken) return
  for (const { token, seq } of result.taken) own.set(token, seq)
}

function renewAll(on: Connection, own: OwnLeases, leaseMs: number): void {
  const now = Date.now()
  on.transaction(() => {
    for (const [token, seq] of own) {
      if (!on.settlements.renew({ seq, token }, leaseMs, now)) own.delete(token)
    }
  })
}

function closeQuietly(database: { close(): unknown }): void {
  try {
    database.close()
  } catch {}
}
