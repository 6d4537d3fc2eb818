import type { InboxStats } from '@ackhook/core'
import type { Publication, PushEngine } from '@ackhook/core/push'
import type { QueueBinding } from './bindings.ts'

/** Cloudflare allows 128,000 bytes, of which its metadata may take a hundred. */
const MAX_BYTES = 127_900
const DAY_MS = 86_400_000

/** Implements core's push engine with a Cloudflare queue. */
export function queueEngine(queue: QueueBinding, deadLetters: QueueBinding | false): PushEngine {
  return {
    location: 'Cloudflare queue',
    maxBytes: MAX_BYTES,
    maxDelayMs: DAY_MS,
    publish: (message, publication) => send(queue, message, publication),
    ...(deadLetters && { keepDead: (message, publication) => send(deadLetters, message, publication) }),
    ...(typeof queue.metrics === 'function' && { stats: () => statsOf(queue, deadLetters) }),
  }
}

async function send(queue: QueueBinding, message: Uint8Array, { delayMs }: Publication): Promise<void> {
  await queue.send(message, { contentType: 'bytes', delaySeconds: toSeconds(delayMs) })
}

/** Rounds up to whole seconds, in which Cloudflare counts. */
export function toSeconds(ms: number): number {
  return Math.ceil(ms / 1000)
}

/** Counts running events as pending: a backlog includes both. */
async function statsOf(queue: QueueBinding, deadLetters: QueueBinding | false): Promise<InboxStats> {
  const [own, dead] = await Promise.all([
    queue.metrics?.(),
    deadLetters ? deadLetters.metrics?.() : undefined,
  ])
  const oldest = own?.oldestMessageTimestamp
  return {
    pending: own?.backlogCount ?? 0,
    active: 0,
    dead: dead?.backlogCount ?? 0,
    oldestPendingMs: oldest === undefined ? 0 : Math.max(0, Date.now() - oldest.getTime()),
  }
}
