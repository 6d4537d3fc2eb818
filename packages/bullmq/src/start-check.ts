import { AckhookError } from '@ackhook/core'
import { describeError } from '@ackhook/core/spi'
import type { Engine, PreparePolicy } from './engine/engine.ts'

const RETRY_MS = 50
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
      await engine.prepare(policy)
      await engine.discardMany(['none'])
      return
    } catch (error) {
      if (performance.now() > endsAt || !CONNECTION_LOST.test(describeError(error))) throw error
      await new Promise(resolve => setTimeout(resolve, RETRY_MS))
    }
  }
}

/** Returns an error that says why BullMQ cannot start, and the fix. */
export function startError(cause: unknown): AckhookError {
  const problem = `BullMQ cannot work with its server (${describeError(cause)})`
  return new AckhookError('inbox_unavailable', `${problem}: ${fixOf(cause)}.`, { cause })
}

/** Returns the cause of a failed query. A missing connection says more than a missing reply. */
export function questionError(error: unknown, engine: Pick<Engine, 'reasonOf'> | undefined): unknown {
  const reason = engine?.reasonOf(error) ?? error
  return reason === error ? error : startError(reason)
}

/** Fixes by the failure's code (of PostgreSQL, Node or OpenSSL), or by the first words of a Redis error reply. */
const FIXES: readonly (readonly [codes: RegExp, replies: RegExp | undefined, fix: string])[] = [
  [/^3D000$/, undefined, 'create that database, or set the option `postgres` to one that exists'],
  [
    // Undefined table or function: BullMQ's are in another schema.
    /^42(?:P01|883)$/,
    undefined,
    "put BullMQ's schema into the search_path, with new Pool({ options: '-c search_path=bullmq' }) or ALTER ROLE … SET search_path = bullmq",
  ],
  [
    /^28(?:P01|000)$/,
    /^(?:NOAUTH|WRONGPASS) |^ERR invalid password/,
    'set the right password, and the username if there is one',
  ],
  [
    /^(?:EPROTO|ERR_SSL_|ERR_TLS_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH)/,
    undefined,
    'use TLS on both sides or on neither (rediss:// and the option `tls` for Redis, `ssl` for PostgreSQL), with a certificate that the client trusts',
  ],
  [
    // Insufficient privilege, read-only transaction, and Redis' words for each.
    /^(?:42501|25006)$/,
    /^(?:NOPERM|READONLY)|can't run this command/,
    "use a user that may write, and the primary's address",
  ],
  [
    /^53300$/,
    /^ERR max number of clients/,
    'raise `max_connections` (PostgreSQL) or `maxclients` (Redis), or close some connections',
  ],
  [/^57P0[123]$/, /^(?:LOADING|MASTERDOWN)/, 'wait until the server is up, and try again'],
  [/^57014$/, undefined, 'raise `statement_timeout` for the user, or find out why the server is slow'],
  [
    /^53[12]00$/,
    /^OOM|-OOM/,
    'give the server more memory or disk space, or let workers handle the waiting events',
  ],
  [/^(?:ENOTFOUND|EAI_AGAIN)$/, undefined, 'check its host name'],
]

function fixOf(cause: unknown): string {
  const { code, name, message } = Object(cause) as Readonly<Record<string, unknown>>
  if (name === 'SchemaMigrationRequiredError') {
    return "create BullMQ's tables once with its `runMigrations(client)`, or write `postgres: { connectionString, migrate: true }` for a user that may create them"
  }
  // `pg` gives this error no code.
  if (message === 'The server does not support SSL connections') return FIXES[3]![2]
  if (message === 'Connection terminated due to connection timeout') {
    return 'check that it runs and that the option `postgres` points to it; if so, update `pg`: versions before 8.3.3 may fail to connect'
  }
  const found = FIXES.find(
    ([codes, replies]) =>
      codes.test(String(code)) || (name === 'ReplyError' && replies?.test(String(message))),
  )
  return (
    found?.[2] ??
    'check that it runs, and that the option `connection` or `postgres` points to it, with TLS only if the server uses it'
  )
}
