import {
  type AdapterTarget,
  type AwaitedResponse,
  adapterSuite,
  adapterSuiteOptions,
  type SuiteReceiverOptions,
} from '@ackhook/conformance/adapter'
import type { Receiver, WebhookEvent } from '@ackhook/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inFull } from '../support/in-full.ts'
import { DECLARED } from './declared.ts'
import {
  AWAITED,
  mountReceiver,
  mountWithWaitUntil,
  type RunningServer,
  type Surroundings,
  startServer,
  WITHOUT_HTTP2,
} from './servers.ts'

/** Frameworks that run the case with a thousand connections by default; in the fault run, all frameworks do. */
const WITH_MANY_CONNECTIONS = ['Express 5', 'Fastify', 'Hono on @hono/node-server']

const quiet = { info() {}, warn() {}, error() {} }

for (const [framework, start] of Object.entries(startServer)) {
  describe(framework, () => {
    const events: WebhookEvent[] = []
    const declared = DECLARED[framework] ?? {}
    const waiting = mountWithWaitUntil[framework]
    let server: RunningServer

    beforeAll(async () => {
      server = await start({ ...adapterSuiteOptions, logger: quiet }, receiver => {
        receiver.on('*', event => events.push(event))
      })
    })
    afterAll(() => server.close())

    const open = () => {
      const { base } = server
      return { url: `${base}/plain`, parsedUrl: `${base}/parsed`, handled: () => events }
    }
    const openAround = async (
      surroundings: Surroundings,
      options: SuiteReceiverOptions = adapterSuiteOptions,
    ): Promise<AdapterTarget> => {
      const handled: WebhookEvent[] = []
      const setUp = (receiver: Pick<Receiver<never, unknown>, 'on'>) => {
        receiver.on('*', event => handled.push(event))
      }
      const { base, close } = await start({ ...options, logger: quiet }, setUp, surroundings)
      return { url: `${base}/plain`, parsedUrl: `${base}/parsed`, handled: () => handled, close }
    }
    const cases = adapterSuite({
      open,
      mount: async receiver => {
        const { base, close } = await mountReceiver[framework]!(receiver)
        return { url: `${base}/`, close }
      },
      openWithOptions: options => openAround({}, options),
      // Fetch has no reply on which middleware could set headers beforehand.
      ...(framework !== 'fetch' && {
        openWithHeaders: (headers: Readonly<Record<string, string>>) => openAround({ headers }),
      }),
      ...(AWAITED.includes(framework) && {
        openAwaited: (onSettled: (response: AwaitedResponse) => void) => openAround({ onSettled }),
      }),
      ...(!WITHOUT_HTTP2.includes(framework) && { openHttp2: () => openAround({ http2: true }) }),
      ...(waiting !== undefined && {
        mountWithWaitUntil: async (
          receiver: Receiver<never, never>,
          waitUntil: (work: Promise<unknown>) => void,
        ) => {
          const { base, close } = await waiting(receiver, waitUntil)
          return { url: `${base}/`, close }
        },
      }),
    })
    for (const { id, name, timeLimitMs, run } of cases.filter(one => isRun(one.id, framework))) {
      const reason = declared[id]
      it(`${id}: ${reason === undefined ? name : `cannot, because ${reason}`}`, {
        timeout: timeLimitMs,
      }, async () => {
        const outcome = run()
        // Declared cases must really fail: an outdated declaration is a failure too.
        if (reason === undefined) await outcome
        else await expect(outcome).rejects.toThrow()
      })
    }
  })
}

describe('the suite', () => {
  const ids = adapterSuite({ open: () => Promise.reject(new Error('nothing runs here')) }).map(({ id }) => id)

  it('has a unique id for every case', () => {
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('has every case that is declared impossible', () => {
    for (const id of Object.values(DECLARED).flatMap(Object.keys)) expect(ids).toContain(id)
  })
})

function isRun(id: string, framework: string): boolean {
  return inFull(true, id !== 'adapter.connections.slow' || WITH_MANY_CONNECTIONS.includes(framework))
}
