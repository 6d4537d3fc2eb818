import { statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Inbox } from '@ackhook/core'
import { UsageError } from '../command/usage-error.ts'
import { checkPostgres, checkRedis } from './check-server.ts'
import type { InboxFlags } from './inbox-flags.ts'

/** Opens the inbox that the flags name. The caller closes it. */
export type OpenInbox = (flags: InboxFlags, cwd: string) => Promise<Inbox>

/** Uses the inbox installed in the user's project, so that both sides agree on the format. */
export const openInbox: OpenInbox = async (flags, cwd) => {
  checkFlags(flags)
  // Created by a misspelt name, an inbox would be empty, and every count a wrong zero.
  const create = false
  const { sqlite, redis, postgres, queue, prefix, schema } = flags
  if (sqlite !== undefined) {
    const path = resolve(cwd, sqlite)
    requireFile(path, sqlite)
    const { sqliteInbox } = await load('@ackhook/sqlite', 'sqliteInbox', cwd)
    return sqliteInbox({ path, create }) as Inbox
  }
  const reached = redis === undefined ? checkPostgres(postgres ?? '') : checkRedis(redis)
  // Only looked at below. Its time runs while the inbox is loaded.
  reached.catch(() => {})
  const { bullmqInbox } = await load('@ackhook/bullmq', 'bullmqInbox', cwd)
  const place =
    redis === undefined
      ? { postgres: { connectionString: postgres, ...(schema !== undefined && { schema }) } }
      : {
          connection: flags.cluster ? await clusterOf(redis, cwd) : redis,
          ...(prefix !== undefined && { prefix }),
        }
  // Connects on its first use. Its options are checked before that, and better than here.
  const inbox = bullmqInbox({ ...place, ...(queue !== undefined && { queue }), create }) as Inbox
  await reached
  return inbox
}

/** A client that the inbox takes its own connections from, and that makes none. */
async function clusterOf(address: string, cwd: string): Promise<unknown> {
  const { Cluster } = (await importFrom('ioredis', cwd)) as {
    readonly Cluster: new (nodes: readonly string[], options: object) => unknown
  }
  const { protocol, username, password } = new URL(address)
  const login = {
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' && { tls: {} }),
  }
  return new Cluster([address], { lazyConnect: true, redisOptions: login })
}

function requireFile(path: string, name: string): void {
  try {
    statSync(path)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR'
    const reason = isMissing
      ? `there is no database ${name}`
      : `the database ${name} cannot be reached (${code}): check the permissions of its folder`
    throw new UsageError(reason, { cause })
  }
}

function checkFlags({ sqlite, redis, cluster, postgres, queue, prefix, schema }: InboxFlags): void {
  if ([sqlite, redis, postgres].filter(place => place !== undefined).length !== 1) {
    throw new UsageError('name the inbox: --sqlite <file>, --redis <url> or --postgres <url>')
  }
  if (sqlite !== undefined && queue !== undefined)
    throw new UsageError('--queue is for --redis and --postgres')
  if (redis === undefined && prefix !== undefined) throw new UsageError('--prefix is for --redis')
  if (redis === undefined && cluster) throw new UsageError('--cluster is for --redis')
  if (cluster && !URL.canParse(redis ?? ''))
    throw new UsageError('--redis must be an address: redis://host:port')
  if (postgres === undefined && schema !== undefined) throw new UsageError('--schema is for --postgres')
}

async function load<Name extends string>(
  name: string,
  factory: Name,
  cwd: string,
): Promise<Record<Name, (options: unknown) => unknown>> {
  const module = (await importFrom(name, cwd)) as Partial<Record<Name, unknown>>
  if (typeof module[factory] === 'function') {
    return module as Record<Name, (options: unknown) => unknown>
  }
  throw new UsageError(`the installed ${name} has no ${factory}: install the version that matches ackhook`)
}

async function importFrom(name: string, cwd: string): Promise<object> {
  for (const from of [join(cwd, 'package.json'), import.meta.url]) {
    const path = resolvePath(name, from)
    if (path !== undefined) return (await import(pathToFileURL(path).href)) as object
  }
  throw new UsageError(`${name} is not installed here. Install it in your project: npm install ${name}`)
}

function resolvePath(name: string, from: string): string | undefined {
  try {
    return createRequire(from).resolve(name)
  } catch {
    return undefined
  }
}
