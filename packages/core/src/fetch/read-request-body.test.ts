import { expect, it } from 'vitest'
import { Refusal } from '../errors/refusal.ts'
import { readRequestBody } from './read-request-body.ts'

const limits = { maxBytes: 10, timeoutMs: 50 }

function post(body: ReadableStream<Uint8Array> | undefined, headers: Record<string, string> = {}): Request {
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

const stalled = () =>
  new ReadableStream<Uint8Array>({ start: controller => controller.enqueue(Uint8Array.of(1)) })
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
    expect(refusal).toMatchObject({ code: 'body_too_large' })
    expect(refusal).toBeInstanceOf(Refusal)
  })

  it(`refuses a body ${way} that stalls`, async () => {
    expect(await readRequestBody(post(stalled(), headers), limits)).toMatchObject({ code: 'body_timeout' })
  })

  it(`refuses a body ${way} that is cut off`, async () => {
    expect(await readRequestBody(post(broken(), headers), limits)).toMatchObject({ code: 'body_aborted' })
  })

  it(`refuses a body ${way} that was read before`, async () => {
    const request = post(stream([1]), headers)
    await request.text()
    expect(await readRequestBody(request, limits)).toMatchObject({ code: 'body_unavailable' })
  })

  it(`refuses a body ${way} that something else is about to read`, async () => {
    const request = post(stream([1]), headers)
    request.body?.getReader()
    expect(await readRequestBody(request, limits)).toMatchObject({ code: 'body_unavailable' })
  })
}

it('treats a request without a body as an empty one', async () => {
  expect(await readRequestBody(post(undefined), limits)).toEqual(new Uint8Array(0))
})

it.each(['', '-5', '+5', '5e0', '0x5'])(
  'counts a body as it reads if the declared length is invalid: %j',
  async length => {
    let taken = 0
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        taken++
        controller.enqueue(new Uint8Array(6))
        // Ends after a while, so that this test fails instead of hanging if nothing counts.
        if (taken === 1000) controller.close()
      },
    })
    const refusal = await readRequestBody(post(endless, { 'content-length': length }), limits)
    expect(refusal).toMatchObject({ code: 'body_too_large' })
    expect(taken).toBeLessThan(10)
  },
)
