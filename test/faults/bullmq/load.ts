import { request } from 'node:http'
import { sign } from '@ackhook/testing'
import { SECRET } from './receiver-process.ts'

/** A sender under way: new events all the time, each repeated until it is acknowledged. */
export interface Load {
  readonly acknowledged: ReadonlySet<string>
  /** Replies in the order in which they came. `0`: the connection broke. */
  readonly replies: readonly { readonly status: number; readonly sentAt: number; readonly ms: number }[]
  /** Begins no new event; resolves when every begun one is acknowledged. */
  finish(): Promise<void>
}

export interface LoadOptions {
  /** Where to send to now: processes come and go. */
  readonly url: () => string
  readonly lanes: number
  /** Milliseconds between two events of one lane. */
  readonly everyMs: number
}

const GIVE_UP_MS = 120_000

export function startLoad({ url, lanes, everyMs }: LoadOptions): Load {
  const acknowledged = new Set<string>()
  const replies: { status: number; sentAt: number; ms: number }[] = []
  let finishing = false
  let count = 0

  async function lane(): Promise<void> {
    while (!finishing) {
      await untilAcknowledged(`evt_${(count++).toString(36)}`)
      await new Promise(resolve => setTimeout(resolve, everyMs))
    }
  }

  async function untilAcknowledged(id: string): Promise<void> {
    const deadline = performance.now() + GIVE_UP_MS
    for (;;) {
      const sentAt = performance.now()
      const status = await deliver(url(), id)
      replies.push({ status, sentAt, ms: performance.now() - sentAt })
      if (status >= 200 && status < 300) break
      if (performance.now() > deadline) throw new Error(`${id} was never acknowledged; last reply: ${status}`)
      await new Promise(resolve => setTimeout(resolve, 50))
    }
    acknowledged.add(id)
  }

  const running = Promise.all(Array.from({ length: lanes }, lane))
  running.catch(() => {})
  return {
    acknowledged,
    replies,
    async finish() {
      finishing = true
      await running
    },
  }
}

/** One attempt of the platform. Answers the status, `0` when the connection broke. */
export function deliver(url: string, id: string): Promise<number> {
  const created_at = '2026-11-21T12:00:00Z'
  const data = { conversation_id: 'cnv_1', channel: 'whatsapp', resolved_by: 'ai' }
  const body = JSON.stringify({ id, type: 'conversation.resolved', created_at, data })
  const headers = {
    'content-type': 'application/json',
    'x-service-signature': sign(body, { secret: SECRET }),
  }
  return new Promise(resolve => {
    const outgoing = request(url, { method: 'POST', headers, agent: false }, response => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
      response.on('error', () => resolve(0))
    })
    outgoing.on('error', () => resolve(0))
    outgoing.end(body)
  })
}
