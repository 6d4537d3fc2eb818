import {
  createReceiver,
  type Inbox,
  memoryInbox,
  NonRetryableError,
  type Observation,
  type Receiver,
} from '@ackhook/core'
import { signedRequest } from '@ackhook/testing'
import { expect, vi } from 'vitest'

const SECRET = 'whsec_dashboard_0123456789'

export interface Letters {
  readonly receiver: Receiver
  readonly inbox: Inbox
  readonly seen: Observation[]
  /** Codes of the receiver's logged warnings. */
  readonly warned: unknown[]
  /** Sends an event whose handler fails while `broken` is true. */
  send(
    id: string,
    type?: string,
    data?: Record<string, unknown>,
    headers?: Record<string, string>,
  ): Promise<void>
  broken: boolean
  /** Ids whose handler fails whatever `broken` is. Set: only these fail. */
  failing: ReadonlySet<string> | undefined
  /** The handler's error leaves attempts. */
  isRetryable: boolean
  /** Message of the error that the handler throws. */
  failure: string
  /** Promise that the handler waits for. */
  hold: Promise<void>
}

/** Creates a receiver whose events become dead letters until `broken` is false. */
export function withLetters(inbox: Inbox = memoryInbox(), concurrency = 16): Letters {
  const seen: Observation[] = []
  const warned: unknown[] = []
  const receiver = createReceiver({
    secret: SECRET,
    inbox,
    concurrency,
    logger: { info() {}, warn: fields => void warned.push((fields as { code?: unknown }).code), error() {} },
    observe: one => seen.push(one),
  })
  const letters: Letters = {
    receiver,
    inbox,
    seen,
    warned,
    broken: true,
    failing: undefined,
    isRetryable: false,
    failure: 'the CRM refused',
    hold: Promise.resolve(),
    async send(id, type = 'conversation.resolved', data = { conversation_id: 'cnv_1' }, headers = {}) {
      const event = { id, type, created_at: '2026-11-22T00:00:00Z', data }
      const reply = await receiver.handle(signedRequest(event, { secret: SECRET, headers }))
      expect(reply.status).toBe(202)
    },
  }
  receiver.on('*', async ({ id }) => {
    await letters.hold
    if (!(letters.failing?.has(id) ?? letters.broken)) return
    throw letters.isRetryable ? new Error(letters.failure) : new NonRetryableError(letters.failure)
  })
  return letters
}

/** Sends events that die, and waits until they are dead. */
export async function dead(letters: Letters, ids: readonly string[], type?: string): Promise<void> {
  const before = (await letters.receiver.stats()).dead
  for (const id of ids) await letters.send(id, type)
  await vi.waitFor(
    async () => expect((await letters.receiver.stats()).dead).toBe(before + ids.length),
    20_000,
  )
}
