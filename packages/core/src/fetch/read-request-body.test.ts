import { afterEach, expect, it, vi } from 'vitest'
import { Refusal } from '../errors/refusal.ts'
import { readRequestBody } from './read-request-body.ts'

const limits = { maxBytes: 10, timeoutMs: 50 }

afterEach(() => {
  vi.useRealTimers()
})

function post(body: RequestInit['body'], headers: Record<string, string> = {}): Request {
  const init: RequestInit & { duplex: 'half' } = { method: 'POST', headers, duplex: 'half' }
  return new Request('http://127.0.0.1/', body === undefined ? init : { ...init, body })
}

function stream(...chunks: readonly number[][]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(Uint8Array.from(chunk))
      controller.close()
    },
  })
}

/** Never ends on its own, but after a while, so that a test fails instead of hanging if nothing counts. */
function endless(pulled: () => number, cancel?: () => void): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(new Uint8Array(6))
      if (pulled() === 1000) controller.close()
    },
    ...(cancel && { cancel }),
  })
}

const stalled = (cancel: () => void | Promise<void> = () => {}) =>
  new ReadableStream<Uint8Array>({ start: controller => controller.enqueue(Uint8Array.of(1)), cancel })
const broken = () =>
  new ReadableStream<Uint8Array>({ start: controller => controller.error(new Error('the socket broke')) })

const declared = { 'content-length': '3' }

for (const [way, headers] of [
  ['of declared length', declared],
  ['of unknown length', {}],
] as const) {
  it(`returns the exact bytes of a body ${way}`, async () => {
    const bytes = await readRequestBody(post(stream([0xef, 0xbb], [0xff]), headers), limits)
    expect(bytes).toEqual(Uint8Array.of(0xef, 0xbb, 0xff))
  })

  it(`refuses a body ${way} that is larger than the limit`, async () => {
    const refusal = await readRequestBody(post(stream(Array(6), Array(6)), headers), limits)
    expect(refusal).toMatchObject({ code: 'body_too_large', detail: 'over body.limit, 10 bytes' })
    expect(refusal).toBeInstanceOf(Refusal)
  })

  it(`refuses a body ${way} that stalls`, async () => {
    expect(await readRequestBody(post(stalled(), headers), limits)).toMatchObject({ code: 'body_timeout' })
  })

  it(`refuses a body ${way} that is cut off`, async () => {
    expect(await readRequestBody(post(broken(), headers), limits)).toMatchObject({ code: 'body_aborted' })
  })

  it(`refuses a body ${way} that was read, or that something else is about to read, with advice`, async () => {
    const read = post(stream([1]), headers)
    await read.text()
    const held = post(stream([1]), headers)
    held.body?.getReader()
    for (const request of [read, held])
      expect(await readRequestBody(request, limits)).toMatchObject({
        code: 'body_unavailable',
        detail: expect.stringContaining('Hand the request to the webhook handler before'),
      })
  })
}

it('returns nothing for a request without a body, or with an empty one', async () => {
  for (const body of [undefined, null, '', stream()])
    expect(await readRequestBody(post(body), limits)).toEqual(new Uint8Array(0))
})

it('accepts a body of exactly the limit', async () => {
  expect(await readRequestBody(post(new Uint8Array(10)), limits)).toHaveLength(10)
})

it.each(['', '-5', '+5', '5e0', '0x5'])(
  'counts a body as it reads if the declared length is invalid: %j',
  async length => {
    let taken = 0
    const request = post(
      endless(() => ++taken),
      { 'content-length': length },
    )
    expect(await readRequestBody(request, limits)).toMatchObject({ code: 'body_too_large' })
    expect(taken).toBeLessThan(10)
  },
)

it('cancels a stream that it gives up, once, when its sender has had time for the reply, and leaves no timer', async () => {
  vi.useFakeTimers()
  const cancel = vi.fn()
  const large = new ReadableStream<Uint8Array>({
    start: controller => controller.enqueue(new Uint8Array(11)),
    cancel,
  })
  expect(await readRequestBody(post(large), limits)).toMatchObject({ code: 'body_too_large' })
  await vi.advanceTimersByTimeAsync(499)
  expect(cancel).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(cancel).toHaveBeenCalledTimes(1)
  const reading = readRequestBody(post(stalled(cancel)), { ...limits, timeoutMs: 10_000 })
  await vi.advanceTimersByTimeAsync(10_000)
  expect(await reading).toMatchObject({ code: 'body_timeout', detail: 'not complete after 10000 ms' })
  expect(cancel).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(500)
  expect(cancel).toHaveBeenCalledTimes(2)
  await readRequestBody(post(new Uint8Array(5)), limits)
  expect(vi.getTimerCount()).toBe(0)
})

it('reads on after a refusal only for a mebibyte, and until the body ends', async () => {
  vi.useFakeTimers()
  let pulled = 0
  const flood = new ReadableStream<Uint8Array>({
    pull(controller) {
      pulled += 65_536
      controller.enqueue(new Uint8Array(65_536))
    },
  })
  await readRequestBody(post(flood), limits)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(pulled).toBeLessThan(1_400_000)
  await readRequestBody(post(stream(Array(6), Array(6), Array(6))), limits)
  await vi.advanceTimersByTimeAsync(0)
  expect(vi.getTimerCount()).toBe(0)
})

it('refuses a request whose body the host withholds', async () => {
  for (const headers of [declared, { 'transfer-encoding': 'chunked' }])
    expect(await readRequestBody(post(undefined, headers), limits)).toMatchObject({
      code: 'body_unavailable',
      detail: expect.stringContaining('the host passed none on'),
    })
  expect(await readRequestBody(post(undefined, { 'content-length': '0' }), limits)).toHaveLength(0)
})

it('tolerates a stream that cannot be cancelled', async () => {
  const refused = stalled(() => Promise.reject(new Error('no')))
  expect(await readRequestBody(post(refused), limits)).toMatchObject({ code: 'body_timeout' })
})

it('reports where the body was cut off', async () => {
  const cause = new Error('reset')
  let pulls = 0
  const breaks = new ReadableStream<Uint8Array>({
    pull: controller => (pulls++ === 0 ? controller.enqueue(new Uint8Array(5)) : controller.error(cause)),
  })
  expect(await readRequestBody(post(breaks), limits)).toMatchObject({
    code: 'body_aborted',
    detail: 'the body was cut off after 5 bytes',
    cause,
  })
})
