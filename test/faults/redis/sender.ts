import { request } from 'node:http'
import { sign } from '@ackhook/testing'
import { keepAliveAgent } from '../../support/keep-alive-agent.ts'
import { SECRET } from './receiver-process.ts'

export interface Reply {
  /** `0` if the connection broke. */
  readonly status: number
  readonly ms: number
}

/** A platform that signs each attempt and can repeat an event until it gets 2xx. */
export interface Sender {
  readonly replies: readonly Reply[]
  deliver(url: string, id: string): Promise<Reply>
  /** Repeats an event, to each address in turn, until one acknowledges it. Fails after `timeoutMs`. */
  deliverUntilAcknowledged(
    urls: readonly string[],
    id: string,
    pause?: { readonly ms?: number; readonly timeoutMs?: number },
  ): Promise<void>
  close(): void
}

export function createSender(connections: number): Sender {
  const agent = keepAliveAgent(connections)
  const replies: Reply[] = []

  function deliver(url: string, id: string): Promise<Reply> {
    const body = bodyOf(id)
    const begun = performance.now()
    return new Promise(resolve => {
      const finish = (status: number) => {
        const reply = { status, ms: performance.now() - begun }
        replies.push(reply)
        resolve(reply)
      }
      const headers = {
        'content-type': 'application/json',
        'x-service-signature': sign(body, { secret: SECRET }),
      }
      const outgoing = request(url, { method: 'POST', agent, headers }, response => {
        response.resume().on('end', () => finish(response.statusCode ?? 0))
        response.on('error', () => finish(0))
      })
      outgoing.on('error', () => finish(0))
      outgoing.end(body)
    })
  }

  async function deliverUntilAcknowledged(
    urls: readonly string[],
    id: string,
    { ms = 200, timeoutMs = 120_000 }: { readonly ms?: number; readonly timeoutMs?: number } = {},
  ): Promise<void> {
    const deadline = performance.now() + timeoutMs
    for (let attempt = 0; ; attempt++) {
      const { status } = await deliver(urls[attempt % urls.length]!, id)
      if (status >= 200 && status < 300) return
      if (performance.now() > deadline)
        throw new Error(`${id} was never acknowledged; the last reply: ${status}`)
      await new Promise(resolve => setTimeout(resolve, ms))
    }
  }

  return { replies, deliver, deliverUntilAcknowledged, close: () => agent.destroy() }
}

export function bodyOf(id: string): string {
  const created_at = '2026-11-21T12:00:00Z'
  const data = { conversation_id: 'cnv_1', channel: 'whatsapp', resolved_by: 'ai' }
  return JSON.stringify({ id, type: 'conversation.resolved', created_at, data })
}

/** Runs `work` for each item, `width` at a time. */
export async function inParallel<T>(
  items: Iterable<T>,
  width: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const iterator = items[Symbol.iterator]()
  const lane = async () => {
    for (let next = iterator.next(); !next.done; next = iterator.next()) await work(next.value)
  }
  await Promise.all(Array.from({ length: width }, lane))
}

/** Returns the `p` quantile of the replies' durations in milliseconds; `0` if there are none. */
export function percentile(replies: readonly Reply[], p: number): number {
  const sorted = replies.map(({ ms }) => ms).sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? 0
}
