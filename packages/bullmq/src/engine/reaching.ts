import { AckhookError } from '@ackhook/core'
import { withAdvice } from '@ackhook/core/advice'
import { describeError, withDeadline } from '@ackhook/core/spi'
import type { Engine, PreparePolicy } from './engine.ts'

const RETRY_MS = 50
/** Pause before a new attempt to reach a server that was not ready. */
const NOT_READY_PAUSE_MS = 100
/** ioredis' errors for a command whose connection is lost or being reopened. */
const CONNECTION_LOST = /^MaxRetriesPerRequestError|Stream isn't writeable/

/**
 * Fails at start, not on every delivery, if write permission or BullMQ's tables are missing: it discards a dead letter
 * that does not exist. A connection that is lost meanwhile, as in a process that hangs while it boots, proves nothing,
 * so the next connection is tried.
 */
export async function checkStart(engine: Engine, timeoutMs: number, policy: PreparePolicy): Promise<void> {
  const endsAt = performance.now() + timeoutMs
  for (;;) {
    try {
      // The queue first: with an unusable server, BullMQ's worker would retry without a pause.
      const ready = engine.ready()
      await (engine.refused === undefined ? ready : Promise.race([ready, engine.refused]))
      await engine.refuseEarlier()
      await engine.prepare(policy)
      await engine.discardMany(['none'])
      return
    } catch (error) {
      if (performance.now() > endsAt || !CONNECTION_LOST.test(describeError(error))) throw error
      await new Promise(resolve => setTimeout(resolve, RETRY_MS))
    }
  }
}

/** Node's codes for a server that cannot be reached, and PostgreSQL's for one that starts, stops or is full. */
const NOT_READY: ReadonlySet<unknown> = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN'],
  // A host that has no address yet, and a socket file that does not exist yet.
  ...['ENOTFOUND', 'EAI_AGAIN', 'ENOENT'],
  ...['57P01', '57P02', '57P03', '53300'],
])
/** The errors of `pg` for a connection that ends, or is not made, without a code. */
const ENDED = /^(?:Connection terminated|timeout e)/

/**
 * Starts an inbox, again and again for `timeoutMs`, while its server may be ready in a moment, as one that starts beside
 * its application. The client for Redis waits for such a server by itself. A start that gives up rejects with the last
 * reason that the server or the network gave.
 */
export async function startWhenReady(
  timeoutMs: number,
  start: (leftMs: number) => Promise<void>,
): Promise<void> {
  const endsAt = performance.now() + timeoutMs
  let reason: unknown
  for (;;) {
    try {
      return await start(endsAt - performance.now())
    } catch (error) {
      const isReason = mayBeReadySoon(Object(error).cause)
      if (isReason) reason = error
      const isSilence = Object(Object(error).cause).name === 'DeadlineError'
      if (!isReason && !(isSilence && reason !== undefined)) throw error
      if (performance.now() + NOT_READY_PAUSE_MS >= endsAt) throw reason
    }
    await new Promise(resolve => setTimeout(resolve, NOT_READY_PAUSE_MS))
  }
}

function mayBeReadySoon(cause: unknown): boolean {
  const { code, message } = Object(cause) as { readonly code?: unknown; readonly message?: unknown }
  return NOT_READY.has(code) || ENDED.test(String(message))
}

/** Returns an error that says why BullMQ cannot start, and the fix if it is known. */
export function startError(cause: unknown): AckhookError {
  const problem = 'BullMQ cannot work with its server'
  const fix = fixOf(cause)
  const message =
    fix === undefined
      ? withAdvice(problem, cause, ['redis', 'postgres'])
      : `${problem} (${describeError(cause)}): ${fix}.`
  return new AckhookError('inbox_unavailable', message, { cause })
}

/** Returns the cause of a failed query, or what mends it. A missing connection says more than a missing reply. */
export function questionError(error: unknown, engine: Pick<Engine, 'reasonOf'> | undefined): unknown {
  const reason = engine?.reasonOf(error) ?? error
  return reason === error && fixOf(error) === undefined ? error : startError(reason)
}

/** Returns the fix for what only BullMQ's own tables, BullMQ and `pg` can report. */
function fixOf(cause: unknown): string | undefined {
  const { name, message, code } = Object(cause) as Readonly<Record<string, unknown>>
  if (name === 'SchemaMigrationRequiredError') {
    return "create BullMQ's tables once with its `runMigrations(client)`, or write `postgres: { connectionString, migrate: true }` for a user that may create them"
  }
  // An undefined table: BullMQ has checked its migrations in its own schema before.
  if (code === '42P01') {
    return "put BullMQ's schema into the search_path, with new Pool({ options: '-c search_path=bullmq' }) or ALTER ROLE … SET search_path = bullmq"
  }
  if (message === 'Connection terminated due to connection timeout') {
    return 'check that it runs and that the option `postgres` points to it; if so, update `pg`: versions before 8.3.3 may fail to connect'
  }
  return undefined
}

/** Where questions find the engine. */
export interface EngineSource {
  open(): Promise<Engine>
  /** Called if the engine could not connect: BullMQ keeps that failure forever, so the next question needs another one. */
  failedToConnect(engine: Engine): void
}

/**
 * Sends an operator's or a tool's query once the engine is connected: on Redis, an earlier call fails at once, as
 * deliveries should. Rejects with the reason, within a deadline.
 */
export async function askEngine<T>(
  source: EngineSource,
  question: (engine: Engine) => Promise<T>,
  deadline: { readonly operation: string; readonly ms: number },
): Promise<T> {
  let engine: Engine | undefined
  const answered = source.open().then(async opened => {
    // Kept even if it never connects: it can report why.
    engine = opened
    await opened.ready().catch(error => {
      source.failedToConnect(opened)
      throw error
    })
    return question(opened)
  })
  try {
    return await withDeadline(answered, deadline)
  } catch (error) {
    throw questionError(error, engine)
  }
}

/**
 * Returns the error behind one without a message: Node tries every address of a name, and reports an empty
 * `AggregateError` if none responds.
 */
export function firstCause(error: unknown): unknown {
  let found = error
  for (let depth = 0; depth < 5; depth++) {
    const { message, errors, cause } = Object(found) as Partial<AggregateError>
    const next: unknown = errors?.[0] ?? cause
    if (message || next === undefined) break
    found = next
  }
  return found
}
