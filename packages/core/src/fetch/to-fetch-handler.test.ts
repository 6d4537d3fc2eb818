import { describe, expect, it, vi } from 'vitest'
import { eventBody, SECRET, signedRequest, watch } from '../../../../test/support/receiving.ts'
import { createReceiver } from '../receiver/create-receiver.ts'
import { type FetchContext, toFetchHandler } from './to-fetch-handler.ts'

const URL = 'http://localhost/webhooks'

function request(body: string, headers: Record<string, string> = {}): Request {
  return new Request(URL, { method: 'POST', body, headers })
}
function signed(text = eventBody()): Request {
  return request(text, signedRequest(text).headers as Record<string, string>)
}

describe('a Fetch handler', () => {
  it('turns requests into responses', async () => {
    const { receiver } = watch()
    const handler = toFetchHandler(receiver as never)
    const response = await handler(signed())
    expect(response.status).toBe(202)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toMatchObject({ code: 'accepted' })
    expect((await handler(signed())).status).toBe(200)
    expect((await handler(request(eventBody()))).status).toBe(401)
    const get = await handler(new Request(URL))
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST'])
  })

  it('passes request and environment to the secret', async () => {
    const contexts: FetchContext<{ SECRET: string }>[] = []
    const receiver = createReceiver<Record<never, never>, FetchContext<{ SECRET: string }>>({
      secret: context => {
        contexts.push(context)
        return context.env.SECRET
      },
    })
    const sent = signed()
    expect((await toFetchHandler(receiver)(sent, { SECRET })).status).toBe(202)
    expect(contexts).toEqual([{ request: sent, env: { SECRET } }])
  })

  it('passes the work after the reply to the platform’s waitUntil, if there is one', async () => {
    const { receiver } = watch()
    const handled = vi.fn()
    receiver.on('*', handled)
    const waits: Promise<unknown>[] = []
    const execution = {
      waits,
      waitUntil(this: { waits: Promise<unknown>[] }, work: Promise<unknown>) {
        this.waits.push(work)
      },
    }
    const handler = toFetchHandler(receiver as never)
    await handler(signed(), {}, execution)
    expect(waits).toHaveLength(1)
    await waits[0]
    expect(handled).toHaveBeenCalledTimes(1)
    for (const [i, other] of [undefined, null, {}, { waitUntil: 'no' }, 7].entries()) {
      expect((await handler(signed(eventBody({ id: `e${i}` })), {}, other)).status).toBe(202)
    }
  })
})
