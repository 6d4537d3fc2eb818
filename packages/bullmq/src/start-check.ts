import { AckhookError } from '@ackhook/core'
import { describeError } from '@ackhook/core/spi'
import type { Engine } from './engine/engine.ts'

const RETRY_MS = 50
/** What ioredis says of a command whose connection is lost, or being made again. */
const CONNECTION_LOST = /^MaxRetriesPerRequestError|Stream isn't writeable/

/**
 * Fails at start, not on every delivery, when write permission or BullMQ's tables are missing: it discards a dead letter
 * that does not exist. A connection that is lost meanwhile, as in a process that hangs while it boots, proves nothing:
 * the next one is asked.
 */
export async function checkStart(engine: Engine, timeoutMs: number): Promise<void> {
  // The queue first: on a server it cannot work with, BullMQ's worker would try again without a pause.
  const ready = engine.queue.waitUntilReady()
  await (engine.refused === undefined ? ready : Promise.race([ready, engine.refused]))
  await engine.prepare()
  const endsAt = performance.now() + timeoutMs
  for (;;) {
    try {
      await engine.discard('none')
      return
    } catch (error) {
      if (performance.now() > endsAt || !CONNECTION_LOST.test(describeError(error))) throw error
      await new Promise(resolve => setTimeout(resolve, RETRY_MS))
    }
  }
}

/** Why BullMQ cannot start, and the fix. A client that keeps trying says why in `connectionError`. */
export function startError(error: unknown, connectionError?: Error): AckhookError {
  const cause = isLate(error) ? (connectionError ?? error) : error
  const problem = `BullMQ cannot work with its server (${describeError(cause)})`
  return new AckhookError('inbox_unavailable', `${problem}: ${fixOf(cause)}.`, { cause })
}

/** Why a question failed. That there is no connection says more than that there was no answer in time. */
export function questionError(error: unknown, connectionError?: Error): unknown {
  return isLate(error) && connectionError !== undefined ? startError(connectionError) : error
}

function isLate(error: unknown): boolean {
  return (error as { readonly name?: unknown } | null)?.name === 'DeadlineError'
}

function fixOf(cause: unknown): string {
  const { code, name, message } = Object(cause) as Readonly<Record<string, unknown>>
  if (name === 'SchemaMigrationRequiredError') {
    return "create BullMQ's tables once with its `runMigrations(client)`, or write `postgres: { connectionString, migrate: true }` for a user that may create them"
  }
  // Undefined database.
  if (code === '3D000')
    return 'create that database, or give the option `postgres` the name of one that exists'
  // Undefined table, undefined function: BullMQ's are in another schema.
  if (code === '42P01' || code === '42883') {
    return "have BullMQ's schema in the search_path, with new Pool({ options: '-c search_path=bullmq' }) or ALTER ROLE … SET search_path = bullmq"
  }
  // Invalid password, invalid authorization.
  if (code === '28P01' || code === '28000' || /^(?:NOAUTH|WRONGPASS) /.test(String(message))) {
    return 'give it the right password, and the username if there is one'
  }
  if (/EPROTO|SSL|TLS|certificate/i.test(`${String(code)} ${String(message)}`)) {
    return 'use TLS on both sides or on neither (rediss:// and the option `tls` for Redis, `ssl` for PostgreSQL), with a certificate that the client trusts'
  }
  // Insufficient privilege, read-only transaction, and what Redis says of either.
  if (
    code === '42501' ||
    code === '25006' ||
    /NOPERM|READONLY|can't run this command/.test(String(message))
  ) {
    return 'give it a user that may write, and the address of the primary'
  }
  return 'check that it runs, and that the option `connection` or `postgres` leads to it, with TLS where the server has it and without elsewhere'
}
