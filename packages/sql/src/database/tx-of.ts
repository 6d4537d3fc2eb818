import type { CustomDatabase } from './custom.ts'

type Work<F> = F extends (work: (tx: infer Tx, ...rest: unknown[]) => never, ...rest: never[]) => unknown
  ? Tx
  : never
type Any = (...args: never[]) => unknown

/** What the library of a database object hands to the work of a transaction. `never` for an object that is not known. */
export type TxOf<Db> = Db extends { $queryRawUnsafe: Any; $connect: Any; $transaction: infer F }
  ? Work<F>
  : Db extends { execute: Any; getConnection(): Promise<infer Tx> }
    ? Tx
    : Db extends { totalCount: number; connect: { (): Promise<infer Tx>; (...rest: never[]): unknown } }
      ? Tx
      : Db extends { selectFrom: Any; transaction(): { execute: infer F } }
        ? Work<F>
        : Db extends { executeMultiple: Any; transaction(mode?: never): Promise<infer Tx> }
          ? Tx
          : OfDrizzle<Db>

/** Drizzle on a synchronous connection has no transaction that can wait: there, the database object itself is used. */
type OfDrizzle<Db> = Db extends { $with: unknown; $client: { prepare: Any; exec: Any } }
  ? Db
  : Db extends { $with: unknown; transaction: infer F }
    ? Work<F>
    : Db extends { waitReady: unknown; transaction: infer F }
      ? Work<F>
      : Db extends { prepare: Any; exec: Any }
        ? Db
        : Db extends CustomDatabase<infer Tx>
          ? Tx
          : never
