import { afterEach, describe, expect, it, vi } from 'vitest'
import { eventBody, SECRET, signedRequest, watch } from '../../../../test/support/receiving.ts'
import { Refusal } from '../errors/refusal.ts'
import { createReceiver } from '../receiver/create-receiver.ts'
import { readRequestBody } from './read-request-body.ts'
import { type FetchContext, toFetchHandler } from './to-fetch-handler.ts'

const LIMITS = { maxBytes: 100, timeoutMs: 10_000 }
const URL = 'http://localhost/webhooks'

function request(body: RequestInit['body'], headers: Record<string, string> = {}): Request {
  const streamed = body instanceof ReadableStream ? { duplex: 'half' } : {}
  return new Request(URL, { method: 'POST', body, headers, ...streamed } as RequestInit)
}
function signed(text = eventBody()): Request {
  return request(text, signedRequest(text).headers as Record<string, string>)
}
function streamOf(
  chunks: Uint8Array[],
  end: (controller: ReadableStreamDefaultController) => void = c => c.close(),
) {
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = chunks.shift()
      if (chunk === undefined) end(controller)
      else controller.enqueue(chunk)
    },
  })
}

afterEach(() => {
  vi.useRealTimers()
})

describe('reading the body of a Fetch request', () => {
  it('returns the exact bytes, however they are chunked', async () => {
    const bytes = Uint8Array.from([0xef, 0xbb, 0xbf, 0xff, 0xfe, 0, 0x61])
    expect(await readRequestBody(request(bytes), LIMITS)).toEqual(bytes)
    const chunks = [...bytes].map(byte => Uint8Array.of(byte))
    expect(await readRequestBody(request(streamOf(chunks)), LIMITS)).toEqual(bytes)
  })

  it('returns nothing for an empty body', async () => {
    expect(await readRequestBody(request(null), LIMITS)).toEqual(new Uint8Array(0))
    expect(await readRequestBody(request(''), LIMITS)).toEqual(new Uint8Array(0))
    expect(await readRequestBody(request(streamOf([])), LIMITS)).toEqual(new Uint8Array(0))
  })

  it('counts the bytes it reads, and stops beyond the limit', async () => {
    expect(await readRequestBody(request(new Uint8Array(100)), LIMITS)).toHaveLength(100)
    expect(await readRequestBody(request(new Uint8Array(101)), LIMITS)).toMatchObject({
      code: 'body_too_large',
      detail: 'over bodyLimit, 100 bytes',
    })
    const cancel = vi.fn()
    let sent = 0
    const endless = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(60))
        sent++
      },
      cancel,
    })
    expect(await readRequestBody(request(endless), LIMITS)).toBeInstanceOf(Refusal)
    expect(cancel).toHaveBeenCalledTimes(1)
    expect(sent).toBeLessThan(5)
  })

  it('gives up a body that does not arrive in time', async () => {
    vi.useFakeTimers()
    const cancel = vi.fn()
    const stalled = new ReadableStream({ start: c => c.enqueue(new Uint8Array(7)), cancel })
    const reading = readRequestBody(request(stalled), LIMITS)
    await vi.advanceTimersByTimeAsync(9999)
    expect(cancel).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(await reading).toMatchObject({ code: 'body_timeout', detail: 'not complete after 10000 ms' })
    expect(cancel).toHaveBeenCalledTimes(1)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('tolerates a stream that cannot be cancelled', async () => {
    vi.useFakeTimers()
    const stalled = new ReadableStream({ cancel: () => Promise.reject(new Error('no')) })
    const reading = readRequestBody(request(stalled), LIMITS)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(await reading).toMatchObject({ code: 'body_timeout' })
  })

  it('reports where the body was cut off', async () => {
    const cause = new Error('reset')
    const broken = streamOf([new Uint8Array(5)], controller => controller.error(cause))
    expect(await readRequestBody(request(broken), LIMITS)).toMatchObject({
      code: 'body_aborted',
      detail: 'the body was cut off after 5 bytes',
      cause,
    })
  })

  it('leaves no timer behind', async () => {
    vi.useFakeTimers()
    await readRequestBody(request(new Uint8Array(5)), LIMITS)
    await readRequestBody(request(new Uint8Array(500)), LIMITS)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('returns body_unavailable, with advice, if something read or holds the body', async () => {
    const read = request('{}')
    await read.text()
    const locked = request('{}')
    locked.body?.getReader()
    for (const one of [read, locked]) {
      expect(await readRequestBody(one, LIMITS)).toMatchObject({
        code: 'body_unavailable',
        detail: expect.stringContaining('Hand the request to the webhook handler before'),
      })
    }
  })
})

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
