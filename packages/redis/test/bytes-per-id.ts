import { createHash } from 'node:crypto'
import { redisStore } from '@ackhook/redis'
import type { Redis } from 'ioredis'

const WAVE = 2000

/**
 * Claims and completes `ids` ids in an empty Redis, with keys and fingerprints like those of the inboxes. Returns
 * the bytes of Redis memory per id.
 */
export async function bytesPerId(client: Redis, ids: number): Promise<number> {
  // A long timeout, for a machine under load.
  const store = redisStore(client, { timeout: '10s' })
  await store.claim('warm', 'token', { leaseMs: 60_000, fingerprint: 1 })
  await store.release('warm', 'token')
  const before = await usedMemory(client)
  for (let start = 0; start < ids; start += WAVE) {
    await Promise.all(Array.from({ length: Math.min(WAVE, ids - start) }, (_, i) => handle(start + i)))
  }
  const after = await usedMemory(client)
  const remembered = await client.dbsize()
  if (remembered !== ids) throw new Error(`remembered ${remembered} of ${ids} ids`)
  return (after - before) / ids

  async function handle(n: number): Promise<void> {
    const key = createHash('sha256').update(`evt_${n}`).digest('base64url').slice(0, 22)
    const token = `0b4d4b0c-3f51-4b62-8d6a-5f8f0d8f7a11:${n.toString(36)}`
    const fingerprint = Math.imul(n, 0x9e3779b1)
    await store.claim(key, token, { leaseMs: 60_000, fingerprint })
    await store.complete(key, token, { retentionMs: 7 * 86_400_000, fingerprint })
  }
}

async function usedMemory(client: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1])
}
