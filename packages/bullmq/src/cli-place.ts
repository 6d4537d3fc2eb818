import type { ResolvedOptions } from './options.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Returns the flags with which `ackhook inbox` finds the queue. `undefined` if the server has no address: a cluster,
 * Sentinels, a socket. `PASSWORD` stands for a password.
 */
export function cliPlace({ engine, queue, prefix }: ResolvedOptions): readonly string[] | undefined {
  const address =
    engine.kind === 'redis' ? redisAddress(engine.connection) : postgresAddress(engine.connection)
  if (address === undefined) return undefined
  const { schema } = Object(engine.connection) as Fields
  return [
    `--${engine.kind}`,
    address,
    ...(queue === 'ackhook' ? [] : ['--queue', queue]),
    ...(prefix === undefined ? [] : ['--prefix', prefix]),
    ...(typeof schema === 'string' ? ['--schema', schema] : []),
  ]
}

function redisAddress(connection: unknown): string | undefined {
  if (typeof connection === 'string') return withoutPassword(connection)
  const given = connection as Fields
  if (given['isCluster'] === true) return undefined
  const { url, path, sentinels, tls, host = 'localhost', port = 6379, db = 0, ...rest } = optionsOf(given)
  if (typeof url === 'string') return withoutPassword(url)
  if (path || sentinels) return undefined
  return withoutPassword(
    `redis${tls ? 's' : ''}://${loginOf(rest['username'], rest['password'])}${host}:${port}/${db}`,
  )
}

function postgresAddress(connection: unknown): string | undefined {
  if (typeof connection === 'string') return withoutPassword(connection)
  const {
    connectionString,
    host = 'localhost',
    port = 5432,
    database,
    user,
    password,
  } = optionsOf(connection as Fields)
  if (typeof connectionString === 'string') return withoutPassword(connectionString)
  if (String(host).startsWith('/')) return undefined
  return withoutPassword(`postgres://${loginOf(user, password)}${host}:${port}/${database ?? user ?? ''}`)
}

/** Options of a client or a pool, or the options themselves. */
function optionsOf(connection: Fields): Fields {
  return { ...connection, ...(connection['options'] as Fields | undefined) }
}

function loginOf(user: unknown, password: unknown): string {
  if (!user && !password) return ''
  return `${encodeURIComponent(String(user ?? ''))}${password ? ':PASSWORD' : ''}@`
}

/** Drops the parameters too: some drivers accept a password there. */
function withoutPassword(address: string): string | undefined {
  try {
    const url = new URL(address)
    if (url.password !== '') url.password = 'PASSWORD'
    const mode = url.searchParams.get('sslmode')
    url.search = mode === null ? '' : `sslmode=${encodeURIComponent(mode)}`
    url.hash = ''
    return url.href
  } catch {
    return undefined
  }
}
