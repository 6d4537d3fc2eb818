import { ConfigurationError, type Receiver } from '@ackhook/core'
import type { PushInbox } from '@ackhook/core/push'
import { inspectReceiver, onceAMinute } from '@ackhook/core/spi'
import type { QueueBatch, QueueMessage } from './bindings.ts'
import { toSeconds } from './queue-engine.ts'

/** The export `queue` of a Worker. */
export type QueueHandler = (batch: QueueBatch) => Promise<void>

/** Time limit of a Cloudflare consumer, by wall-clock time, which all events of a batch share. */
const BATCH_MS = 900_000
/** Cloudflare's default `max_retries`, after which it gives a message up. */
const DEFAULT_MAX_RETRIES = 3

/**
 * Turns a receiver into a consumer of its queue. It runs a batch's events, `concurrency` at a time, and acknowledges or
 * retries each message separately. It never fails a batch because of one event. An event that no longer fits into the 15
 * minutes of its batch goes back without an attempt.
 *
 * @example
 * export default { fetch: toFetchHandler(receiver), queue: toQueueHandler(receiver) }
 */
export function toQueueHandler(receiver: Pick<Receiver<never, never>, 'start'>): QueueHandler {
  const { inbox, logger } = inspectReceiver(receiver)
  if (!('consume' in inbox)) throw new ConfigurationError('inbox', NOT_PUSHED)
  const { consume } = inbox as PushInbox
  const reportRisk = onceAMinute((message: string, more) =>
    logger.warn({ code: 'queue_may_give_up', message }, `${MAY_GIVE_UP}${more}`),
  )
  async function settle(message: QueueMessage): Promise<void> {
    const { id, body, attempts } = message
    if (attempts === DEFAULT_MAX_RETRIES + 1) reportRisk('', id)
    const outcome = await consume({ id, body: bytesOf(body), deliveries: attempts })
    if (outcome.outcome === 'done') message.ack()
    else message.retry({ delaySeconds: toSeconds(outcome.delayMs) })
  }
  return async batch => {
    const endsAt = Date.now() + BATCH_MS
    const messages = messagesOf(batch)
    await receiver.start()
    const { concurrency, longestMs } = inbox as PushInbox
    const waiting = messages.values()
    // An attempt must not outlive the call that began it, so the limit applies to each batch.
    const work = async (): Promise<void> => {
      for (const message of waiting) {
        if (Date.now() + longestMs < endsAt) await settle(message)
        else message.retry({ delaySeconds: 0 })
      }
    }
    await Promise.all(Array.from({ length: Math.min(messages.length, concurrency) }, work))
  }
}

const NO_MESSAGES = 'must be a Cloudflare queue: the handler was called without messages, and did nothing'

function messagesOf(batch: unknown): readonly QueueMessage[] {
  let messages: unknown
  try {
    messages = (batch as Partial<QueueBatch> | null | undefined)?.messages
    if (Array.isArray(messages)) return [...messages]
  } catch {
    // A batch that cannot be read is not from Cloudflare.
  }
  throw new ConfigurationError('queue', NO_MESSAGES)
}

const NOT_PUSHED = 'must be cloudflareQueueInbox(env.EVENTS, …): no other inbox gets events from a queue'
const MAY_GIVE_UP =
  'A message was delivered for the fourth time: its Worker ended while handling it, or a batch was too long. With the default max_retries of 3, Cloudflare now drops it or moves it to the dead_letter_queue: set max_retries to 100 in wrangler.jsonc.'

/**
 * Returns a message's bytes, which arrive as an `ArrayBuffer`. Any other body is from another producer, and kept as text.
 */
function bytesOf(body: unknown): Uint8Array {
  if (body instanceof ArrayBuffer) return new Uint8Array(body)
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength)
  return new TextEncoder().encode(typeof body === 'string' ? body : (JSON.stringify(body) ?? ''))
}
