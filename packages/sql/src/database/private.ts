import { ConfigurationError } from '@ackhook/core'
import { DIALECTS, type Dialect } from './dialect.ts'

// Members of libraries that are not public. Each is read here only, when an object is passed in, and refused or ignored when
// it is no longer what it was.

const PRISMA_DIALECTS: Readonly<Record<string, Dialect>> = {
  postgresql: 'postgres',
  postgres: 'postgres',
  mysql: 'mysql',
  sqlite: 'sqlite',
}

/** `undefined` if Prisma no longer tells: the option `dialect` is then required. */
export function dialectOfPrisma(client: object): Dialect | undefined {
  const { _activeProvider } = client as { readonly _activeProvider?: unknown }
  return PRISMA_DIALECTS[String(_activeProvider)]
}

/** Returns the database and, of its driver's parts, whether it is postgres.js or works synchronously. */
export function kindOfDrizzle(db: object): { readonly dialect: Dialect; readonly isSync: boolean } {
  const { dialect, resultKind } = db as { readonly dialect?: object; readonly resultKind?: unknown }
  const entity = dialect?.constructor
  const kind = String(entity && Reflect.get(entity, Symbol.for('drizzle:entityKind')))
  const found = DIALECTS.find(one => kind.toLowerCase().startsWith(KINDS[one]))
  if (found === undefined)
    throw new ConfigurationError(
      'db',
      `is a Drizzle object of a version that @ackhook/sql does not know (${kind})`,
    )
  return { dialect: found, isSync: resultKind === 'sync' }
}

const KINDS: Readonly<Record<Dialect, string>> = { postgres: 'pg', mysql: 'mysql', sqlite: 'sqlite' }

/** Returns how many connections the pool of a driver has at most, if it tells. */
export function sizeOfPool(pool: unknown): number | undefined {
  const {
    options,
    config,
    pool: inner,
  } = Object(pool) as {
    readonly options?: { readonly max?: unknown }
    readonly config?: { readonly connectionLimit?: unknown }
    readonly pool?: unknown
  }
  const size =
    options?.max ?? config?.connectionLimit ?? (inner === undefined ? undefined : sizeOfPool(inner))
  return typeof size === 'number' && size > 0 ? size : undefined
}

interface PgClass {
  new (
    options: object,
  ): { connect(): Promise<void>; query(text: string): Promise<unknown>; end(): Promise<void> }
}

/** Runs a statement on a connection beside a pg Pool, all of whose connections may wait for what the statement ends. */
export async function queryApart(pool: object, text: string): Promise<void> {
  const { Client, options } = pool as { readonly Client?: PgClass; readonly options?: object }
  if (typeof Client !== 'function' || options === undefined) throw new TypeError('an unknown pg Pool')
  const client = new Client(options)
  // A loss of it is told to its statement.
  ;(client as unknown as { on(event: 'error', listener: () => void): void }).on('error', () => {})
  try {
    await client.connect()
    await client.query(text)
  } finally {
    await client.end()
  }
}
