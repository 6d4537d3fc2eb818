import { ConfigurationError } from '@ackhook/core'
import { withDeadline } from '@ackhook/core/spi'
import type { PostgresBackend } from '../engine/bullmq-internals.ts'

type Parse = (text: string) => unknown

/** The part of a `pg` pool that this package uses. */
export interface Queries {
  query<Row = Readonly<Record<string, unknown>>>(
    text: string,
    values?: readonly unknown[],
  ): Promise<{ readonly rows: readonly Row[] }>
}

interface Client {
  query(config: object, values?: readonly unknown[]): Promise<{ readonly rows: readonly never[] }>
  release(failure?: unknown): void
}

interface Pool {
  connect(): Promise<Client>
}

const toNumber: Parse = text => Number(text)
const toJson: Parse = text => JSON.parse(text)

/** PostgreSQL's own numbers for the types that BullMQ and this package read. All other types are texts. */
const PARSERS: ReadonlyMap<number, Parse> = new Map([
  [16, (text: string) => text === 't'],
  [21, toNumber],
  [23, toNumber],
  [114, toJson],
  [700, toNumber],
  [701, toNumber],
  [3802, toJson],
])

const asText: Parse = text => text

/** Thrown while `pg` reads rows, so that the query rejects. */
const refuseBinary: Parse = () => {
  throw new ConfigurationError(
    'postgres',
    'must not have binary: true, here or in pg.defaults: `pg` damages binary results by decoding them as text',
  )
}

/**
 * Parsers of `pg` results. Its own parsers belong to the whole process, and an application may replace them: jobs could
 * not be read if their JSON stayed text or their numbers became dates.
 */
export const TYPES = {
  getTypeParser: (oid: number, format?: string): Parse =>
    format === 'binary' ? refuseBinary : (PARSERS.get(oid) ?? asText),
}

/** Longer than any limit of ours, so that the limit of `pg`, which judges before it reads, never decides. */
const NO_LIMIT_MS = 2 ** 31 - 1

/**
 * Runs queries of a pool, even the user's, with {@link TYPES}, whatever parsers the pool or the process has set. A
 * connection without a reply for `silenceMs` is replaced: the network may have dropped it.
 */
export function typedQueries(pool: object, silenceMs: number): Queries {
  const limit = { operation: 'PostgreSQL', ms: silenceMs }
  return {
    async query(text, values) {
      const client = await (pool as Pool).connect()
      let failure: unknown
      try {
        const config = { text, types: TYPES, query_timeout: NO_LIMIT_MS }
        return await withDeadline(client.query(config, values), limit)
      } catch (error) {
        failure = error
        throw error
      } finally {
        // As the pool's own `query` does: a connection on which something failed is not used again.
        client.release(failure)
      }
    },
  }
}

/** Does the same for BullMQ's own queries, which it passes to the pool directly. */
export function useTypes(backend: PostgresBackend, pool: object, silenceMs: number): void {
  const { connection } = backend
  const queries = typedQueries(pool, silenceMs)
  backend.query = async (text, params) => {
    await connection.waitUntilReady()
    try {
      return connection.isClosing ? await NEVER : await queries.query(text as string, params)
    } catch (error) {
      if (connection.isClosing && POOL_HAS_ENDED.test((error as Error).message)) return NEVER
      throw error
    }
  }
}

/** BullMQ expects no reply to what it sends while it closes. */
const NEVER = new Promise<never>(() => {})
const POOL_HAS_ENDED = /after calling end on the pool/
