import { ConfigurationError } from '@ackhook/core'
import type { Dialect, Isolation, Query } from './dialect.ts'
import { has, type Library } from './library.ts'

/** A database that none of the others knows, described by its user. */
export interface CustomDatabase<Tx extends object = object> {
  readonly dialect: Dialect
  /**
   * Runs one statement, with `?` for each parameter; in `tx` if that is given. Resolves to its rows, and to the number of
   * changed rows.
   */
  query(
    text: string,
    params: readonly unknown[],
    tx: Tx | undefined,
  ): Promise<{ readonly rows: readonly object[]; readonly affected: number }>
  /**
   * Runs `work` in a new transaction, commits, and rejects if the database did not commit. `settings` has the isolation level
   * that `sqlEffects` was given.
   */
  transaction<R>(
    work: (tx: Tx) => Promise<R>,
    settings: { readonly isolation: Isolation | undefined },
  ): Promise<R>
}

/** The user's own description. Its transactions are known only while this package has them open. */
export const custom: Library = {
  name: 'your own { dialect, query, transaction }',
  is: object =>
    has(object, 'query', 'transaction') && typeof (object as { dialect?: unknown }).dialect === 'string',
  dialectOf: object => (object as CustomDatabase).dialect,
  query: object => customQuery(object as CustomDatabase, undefined),
  whyNotOpen: () => 'a database: pass the transaction that once gave to your handler',
  transaction: (root, work, { isolation }) =>
    (root as CustomDatabase).transaction(tx => work(tx), { isolation }),
}

export function customQuery(database: CustomDatabase, tx: object | undefined): Query {
  return async (text, params) => {
    const result = await database.query(text, params, tx)
    if (Array.isArray(result?.rows) && Number.isSafeInteger(result.affected)) {
      return { rows: result.rows as never, affected: result.affected }
    }
    throw new ConfigurationError('query', 'must resolve to { rows, affected }')
  }
}
