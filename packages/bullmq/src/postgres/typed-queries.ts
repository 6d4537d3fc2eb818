import { ConfigurationError } from '@ackhook/core'
import type { PostgresBackend } from '../engine/bullmq-internals.ts'

type Parse = (text: string) => unknown

/** The part of a `pg` pool that this package uses. */
export interface Queries {
  query<Row = Readonly<Record<string, unknown>>>(
    text: string,
    values?: readonly unknown[],
  ): Promise<{ readonly rows: readonly Row[] }>
}

interface Pool {
  query(config: object, values?: readonly unknown[]): Promise<{ readonly rows: readonly never[] }>
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

/**
 * Runs queries of a pool, even the user's, with {@link TYPES}, whatever parsers the pool or the process has set. A
 * connection without a reply for `silenceMs` is replaced: the network may have dropped it.
 */
export function typedQueries(pool: object, silenceMs: number): Queries {
  return {
    query: (text, values) => (pool as Pool).query({ text, types: TYPES, query_timeout: silenceMs }, values),
  }
}

/** Does the same for BullMQ's own queries, which it passes to the pool directly. */
export function useTypes(backend: PostgresBackend, silenceMs: number): void {
  const query = backend.query.bind(backend)
  backend.query = (text, params) => query({ text, types: TYPES, query_timeout: silenceMs }, params)
}
