import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Inbox } from '@ackhook/core'
import { loadFromProject } from '../command/load-from-project.ts'
import { UsageError } from '../command/usage-error.ts'
import type { InboxFlags } from './inbox-flags.ts'

/** Opens the inbox given by the flags. The caller closes it. */
export type OpenInbox = (flags: InboxFlags, cwd: string) => Promise<Inbox>

type InboxFactory = (options: object) => Inbox
type ClusterClass = new (nodes: readonly string[], options: object) => unknown

/** Uses the inbox installed in the user's project, so that both sides agree on the format. */
export const openInbox: OpenInbox = async (flags, cwd) => {
  checkFlags(flags)
  // A misspelled name must not create an inbox, which would show every count as zero.
  const create = false
  const { sqlite, redis, postgres, queue, prefix, schema } = flags
  if (sqlite !== undefined) {
    const path = resolve(cwd, sqlite)
    requireFile(path, sqlite)
    const sqliteInbox = await loadFromProject<InboxFactory>('@ackhook/sqlite', 'sqliteInbox', cwd)
    return sqliteInbox({ path, create })
  }
  const bullmqInbox = await loadFromProject<InboxFactory>('@ackhook/bullmq', 'bullmqInbox', cwd)
  const place =
    redis === undefined
      ? { postgres: { connectionString: postgres, ...(schema !== undefined && { schema }) } }
      : {
          connection: flags.cluster ? await clusterOf(redis, cwd) : redis,
          ...(prefix !== undefined && { prefix }),
        }
  // The inbox connects on first use, but checks its options now.
  return bullmqInbox({ ...place, ...(queue !== undefined && { queue }), create })
}

/** Creates a client that never connects itself: the inbox duplicates it for its own connections. */
async function clusterOf(address: string, cwd: string): Promise<unknown> {
  const Cluster = await loadFromProject<ClusterClass>('ioredis', 'Cluster', cwd)
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
    throw new UsageError('give one of --sqlite <file>, --redis <url> or --postgres <url>')
  }
  if (sqlite !== undefined && queue !== undefined)
    throw new UsageError('--queue is only for --redis and --postgres')
  if (redis === undefined && prefix !== undefined) throw new UsageError('--prefix is only for --redis')
  if (redis === undefined && cluster) throw new UsageError('--cluster is only for --redis')
  if (cluster && !URL.canParse(redis ?? ''))
    throw new UsageError('--redis must be an address: redis://host:port')
  if (postgres === undefined && schema !== undefined) throw new UsageError('--schema is only for --postgres')
}
