import { createReceiver, type DedupeStore } from '@ackhook/core'
import { redisStore } from '@ackhook/redis'
import { sign } from '@ackhook/testing'
import { Redis } from 'ioredis'
import { startReplyDroppingProxy } from '../../support/reply-dropping-proxy.ts'
import { until } from '../../support/until.ts'
import { SECRET } from './receiver-process.ts'
import { bodyOf, inParallel } from './sender.ts'

export interface LostRepliesResult {
  readonly dropped: number
  /** Acknowledged events whose handler never ran. */
  readonly lost: readonly string[]
}

/**
 * Delivers events until each is acknowledged, through a proxy that drops replies, with ioredis's defaults: it resends a
 * command if the connection breaks before the reply.
 */
export async function deliverThroughLostReplies(
  redisPort: number,
  events: number,
  makeStore: (client: Redis) => DedupeStore,
): Promise<LostRepliesResult> {
  const proxy = await startReplyDroppingProxy(redisPort, 0.05)
  const client = new Redis(proxy.port, '127.0.0.1')
  client.on('error', () => {})
  const handled = new Set<string>()
  const receiver = createReceiver({
    secret: SECRET,
    store: makeStore(client),
    logger: { info() {}, warn() {}, error() {} },
  }).on('*', event => {
    handled.add(event.id)
  })
  const ids = Array.from({ length: events }, (_, i) => `evt_${i}`)
  // Runs few at a time: calls in one tick share a reply, and many small replies can be lost in more places.
  await inParallel(ids, 8, deliverUntilAcknowledged)
  await until(
    'no event waits or runs',
    async () => {
      const { pending, active } = await receiver.stats()
      return pending + active === 0
    },
    60_000,
  )
  await receiver.close()
  client.disconnect()
  await proxy.stop()
  return { dropped: proxy.dropped, lost: ids.filter(id => !handled.has(id)) }

  async function deliverUntilAcknowledged(id: string): Promise<void> {
    const body = new TextEncoder().encode(bodyOf(id))
    for (;;) {
      const headers = { 'x-service-signature': sign(body, { secret: SECRET }) }
      const { status } = await receiver.handle({ method: 'POST', headers, body, context: undefined })
      if (status < 300) return
      await new Promise(resolve => setTimeout(resolve, 50))
    }
  }
}

export const ackhookStore = (client: Redis): DedupeStore => redisStore(client)

/** A common hand-written claim: after a resent `SET NX`, even its winner gets "taken". */
export function setNxStore(client: Redis): DedupeStore {
  return {
    async claim(key, token, { leaseMs }) {
      const set = await client.set(`nx:${key}`, token, 'PX', leaseMs, 'NX')
      return set === 'OK' ? { outcome: 'claimed' } : { outcome: 'completed' }
    },
    extend: async () => true,
    complete: async () => true,
    release: async () => true,
    forget: async () => true,
  }
}
