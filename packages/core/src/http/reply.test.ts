import { describe, expect, it, vi } from 'vitest'
import { signedRequest, watch } from '../../../../test/support/receiving.ts'
import { CODES, type ReplyCode } from '../errors/codes.ts'
import { memoryInbox } from '../inbox/memory/memory-inbox.ts'
import { outcomeOf } from '../receiver/handle-request.ts'
import { replyFor, replyLater, replyTo } from './reply.ts'
import type { ReadBody, WebhookReply, WebhookRequest } from './request.ts'

type Handle = (request: WebhookRequest<undefined>) => Promise<WebhookReply>
type Wrap = (handle: Handle, pass: (reply: Promise<WebhookReply>) => Promise<WebhookReply>) => Handle

const codes = Object.keys(CODES) as ReplyCode[]

it.each(codes)('the reply for %s is small JSON with a stable code', code => {
  const reply = replyFor(code)
  expect(reply.status).toBe(CODES[code].status)
  expect(JSON.parse(reply.body)).toEqual({ code: CODES[code].reply ?? code, message: CODES[code].message })
  expect(reply.headers).toEqual({
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(reply.body)),
    ...(reply.status === 405 && { allow: 'POST' }),
  })
})

it('a reply for later has a time, in whole seconds from one second to one hour', () => {
  const after = (ms: number) => replyLater('in_flight', ms).headers['retry-after']
  expect([0, 1, 1000, 1001, 29_999, 3_600_000, 9_999_999, Number.POSITIVE_INFINITY, -5].map(after)).toEqual([
    '1',
    '1',
    '1',
    '2',
    '30',
    '3600',
    '3600',
    '3600',
    '1',
  ])
})

it('without a known time it is between 2 and 10 seconds, at random', () => {
  const seen = new Set(Array.from({ length: 500 }, () => replyLater('draining').headers['retry-after']))
  expect([...seen].map(Number).sort((a, b) => a - b)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10])
})

it('a reply for later leaves the prepared one unchanged', () => {
  expect(replyLater('draining')).toMatchObject({ status: 503, body: replyFor('draining').body })
  expect(replyFor('draining').headers['retry-after']).toBeUndefined()
})

it('only an outcome that leaves the event with the sender is a refusal', () => {
  const cause = new Error('down')
  expect(outcomeOf({ outcome: 'accepted' })).toBe('accepted')
  expect(outcomeOf({ outcome: 'duplicate', conflict: true })).toBe('duplicate')
  expect(outcomeOf({ outcome: 'processed' })).toBe('processed')
  expect(outcomeOf({ outcome: 'dead_lettered' })).toBe('dead_lettered')
  expect(outcomeOf({ outcome: 'failed' })).toMatchObject({ code: 'handler_failed' })
  expect(outcomeOf({ outcome: 'failed', retryAfterMs: 0 })).toMatchObject({
    code: 'handler_deferred',
    retryAfterMs: 0,
  })
  expect(outcomeOf({ outcome: 'full' })).toMatchObject({ code: 'capacity_exceeded' })
  expect(outcomeOf({ outcome: 'unavailable', code: 'store_unavailable', cause })).toMatchObject({
    code: 'store_unavailable',
    cause,
  })
})

it('an event in flight may be sent again after at most 30 seconds', () => {
  expect(outcomeOf({ outcome: 'in_flight', retryAfterMs: 500 })).toMatchObject({
    code: 'in_flight',
    retryAfterMs: 500,
  })
  expect(outcomeOf({ outcome: 'in_flight', retryAfterMs: 60_000 })).toMatchObject({ retryAfterMs: 30_000 })
})

describe('replyTo', () => {
  it('writes the reply in the same turn if nothing is asynchronous', async () => {
    const { receiver } = watch()
    await receiver.start()
    const replies: WebhookReply[] = []
    void replyTo(receiver, signedRequest()).then(reply => replies.push(reply))
    await new Promise(resolve => process.nextTick(resolve))
    expect(replies).toMatchObject([{ status: 202 }])
  })

  it('writes the reply later if something is asynchronous', async () => {
    const { receiver } = watch()
    // The first request starts the processing.
    expect(await replyTo(receiver, signedRequest())).toMatchObject({ status: 202 })
  })

  it('goes through a wrapper around the receiver’s handle', async () => {
    const { receiver } = watch()
    const seen: number[] = []
    const wrapped: typeof receiver = {
      ...receiver,
      async handle(request) {
        const reply = await receiver.handle(request)
        seen.push(reply.status)
        return reply
      },
    }
    await replyTo(wrapped, signedRequest())
    expect(seen).toEqual([202])
  })

  it('returns 500 if a wrapped handle fails', async () => {
    const { receiver } = watch()
    const wrapped: typeof receiver = { ...receiver, handle: () => Promise.reject(new Error('wrapped badly')) }
    const reply = await replyTo(wrapped, signedRequest())
    expect(reply).toMatchObject({ status: 500, body: expect.stringContaining('internal_error') })
  })

  it('returns 500 if a wrapped handle throws synchronously', async () => {
    const wrapped = {
      handle(): Promise<WebhookReply> {
        throw new Error('wrapped badly')
      },
    }
    const reply = await replyTo(wrapped, signedRequest())
    expect(reply).toMatchObject({ status: 500, body: expect.stringContaining('internal_error') })
  })

  it.each([
    ['a proxy', (handle, pass) => new Proxy(handle, { apply: (_, __, [request]) => pass(handle(request)) })],
    [
      'a function with all properties',
      (handle, pass) => Object.assign((one: Parameters<Handle>[0]) => pass(handle(one)), handle),
    ],
  ] satisfies [string, Wrap][])('goes through %s around the handle', async (_, wrap) => {
    const { receiver } = watch()
    const pass = vi.fn((reply: Promise<WebhookReply>) => reply)
    const wrapped = { handle: wrap(receiver.handle, pass) }
    await replyTo(wrapped, signedRequest())
    expect(pass).toHaveBeenCalledTimes(1)
  })

  it.each([
    ['at once', () => ({ outcome: 'unavailable', code: 'of_a_later_version' })],
    ['later', async () => ({ outcome: 'unavailable', code: 'of_a_later_version' })],
    ['as a time that is not a number', () => ({ outcome: 'in_flight', retryAfterMs: 1n })],
  ])('returns 500 if an inbox returns a result unknown to core, %s', async (_, accept) => {
    const { receiver } = watch({ inbox: { ...memoryInbox(), accept: accept as never } })
    const reply = await replyTo(receiver, signedRequest())
    expect(reply.status).toBe(500)
  })

  it('returns 400 if a body reader returns nothing', async () => {
    const { receiver } = watch()
    const reply = await receiver.handle({ ...signedRequest(), body: (() => {}) as unknown as ReadBody })
    expect(reply.status).toBe(400)
  })
})
