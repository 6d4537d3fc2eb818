import { randomBytes } from 'node:crypto'
import { eventBody } from '../../lib/event-body.mjs'

const { bytes: BODY } = eventBody(2000)

/** Returns a delivery of 2 KB with its own id, as a receiver passes it to its inbox. */
export function nextDelivery() {
  const key = randomBytes(16).toString('base64url')
  return {
    key,
    namespace: '',
    id: `evt_${key}`,
    type: 'conversation.resolved',
    body: BODY,
    fingerprint: 1,
    receivedAt: Date.now(),
  }
}

/** Starts an inbox as a receiver does. `concurrency: 0`: it only receives. */
export async function started(
  inbox,
  { concurrency = 0, process = async () => ({ outcome: 'completed' }), serialize = false } = {},
) {
  await inbox.start(process, {
    acknowledge: 'immediately',
    concurrency,
    capacity: 100_000_000,
    retry: { attempts: 8, minDelayMs: 1000, maxDelayMs: 300_000, factor: 4 },
    retentionMs: 604_800_000,
    serialize,
    clock: Date.now,
    observe() {},
    logger: console,
  })
  return inbox
}

export async function accepted(inbox, delivery = nextDelivery()) {
  const answer = await inbox.accept(delivery)
  if (answer.outcome !== 'accepted')
    throw new Error(`the inbox returned ${answer.outcome}`, { cause: answer.cause })
}
