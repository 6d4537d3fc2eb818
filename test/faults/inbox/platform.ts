import { type Agent, request } from 'node:http'
import { sign } from '@ackhook/testing'
import { keepAliveAgent } from '../../support/keep-alive-agent.ts'
import { SECRET } from './receiver-process.ts'

/** One of the platform's attempts. The status is `undefined` if there was no reply. */
interface Attempted {
  readonly status: number | undefined
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly tookMs: number
  readonly url: string
}

/** A platform that sends signed events and retries those that were not acknowledged. */
export interface Platform {
  /** Ids that got 2xx. */
  readonly acked: ReadonlySet<string>
  readonly attempts: readonly Attempted[]
  once(url: string, id: string, data?: object, type?: string): Promise<number | undefined>
  /** Repeats an event until it is acknowledged or `stop` is called. Calls `url` before each attempt. */
  deliver(url: () => string | undefined, id: string, data?: object, type?: string): Promise<void>
  stop(): void
}

const RETRY_MS = 50

/** Creates a platform with at most `connections` connections to the receiver, for which further deliveries wait. */
export function createPlatform({ connections = Number.POSITIVE_INFINITY } = {}): Platform {
  const agent = keepAliveAgent(connections)
  const acked = new Set<string>()
  const attempts: Attempted[] = []
  let stopped = false

  async function once(
    url: string,
    id: string,
    data: object = {},
    type = 'conversation.resolved',
  ): Promise<number | undefined> {
    const startedAt = Date.now()
    const body = JSON.stringify({ id, type, created_at: CREATED_AT, data })
    const status = await post(agent, url, body)
    attempts.push({ status, startedAt, tookMs: Date.now() - startedAt, url })
    if (status !== undefined && status >= 200 && status < 300) acked.add(id)
    return status
  }

  return {
    acked,
    attempts,
    once,
    async deliver(url, id, data, type) {
      while (!stopped && !acked.has(id)) {
        const to = url()
        if (to !== undefined) await once(to, id, data, type)
        if (!acked.has(id)) await new Promise(resolve => setTimeout(resolve, RETRY_MS))
      }
    },
    stop() {
      stopped = true
      agent.destroy()
    },
  }
}

const CREATED_AT = '2026-11-21T10:00:00.000Z'

function post(agent: Agent, url: string, body: string): Promise<number | undefined> {
  return new Promise(resolve => {
    const headers = {
      'content-type': 'application/json',
      'x-service-signature': sign(body, { secret: SECRET }),
    }
    const outgoing = request(url, { method: 'POST', agent, headers }, response => {
      response.resume()
      response.on('end', () => resolve(response.statusCode))
      // The reply was cut off after its head, which has the status.
      response.on('error', () => resolve(response.statusCode))
    })
    outgoing.on('error', () => resolve(undefined))
    outgoing.end(body)
  })
}
