import { kindOf } from '@ackhook/core/spi'
import type { RedisClient } from './redis-client.ts'

type Server = Pick<RedisClient, 'call'>

/**
 * Returns the different eviction policies in force: of one server, or of each master of a Cluster; `undefined` for a
 * server that does not report its policy. Rejects if none can be read in time: a Cluster without one of its masters
 * still serves the others' slots.
 */
export async function evictionPolicies(
  client: RedisClient,
  inTime: <T>(reply: Promise<T>) => Promise<T>,
): Promise<readonly (string | undefined)[]> {
  const masters = client.isCluster === true ? (client.nodes?.('master') ?? []) : []
  const servers: readonly Server[] = masters.length > 0 ? masters : [client]
  const replies = await Promise.allSettled(servers.map(server => inTime(policyOf(server))))
  const policies = replies.flatMap(reply => (reply.status === 'fulfilled' ? [reply.value] : []))
  if (policies.length === 0) throw (replies as [PromiseRejectedResult])[0].reason
  return [...new Set(policies)]
}

async function policyOf(server: Server): Promise<string | undefined> {
  return (await fromConfig(server)) ?? fromInfo(server)
}

/** Returns `undefined` if the command is forbidden, as it often is on managed Redis. */
async function fromConfig(server: Server): Promise<string | undefined> {
  try {
    return textOf(await server.call('CONFIG', 'GET', 'maxmemory-policy'))
  } catch (error) {
    if (error instanceof Error && /^(ERR|NOPERM)/.test(error.message)) return undefined
    throw error
  }
}

/** Reads the reply: a list in protocol version 2 and a map in version 3, which clients represent in three ways. */
function textOf(reply: unknown): string | undefined {
  if (Array.isArray(reply)) return reply.flat()[1]
  if (kindOf(reply) === 'Map') return (reply as Map<string, string>).get('maxmemory-policy')
  return (reply as Record<string, string> | null)?.['maxmemory-policy']
}

async function fromInfo(server: Server): Promise<string | undefined> {
  return /^maxmemory_policy:(\S+)/m.exec(String(await server.call('INFO', 'memory')))?.[1]
}
