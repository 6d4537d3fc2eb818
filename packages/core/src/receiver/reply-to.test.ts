import { expect, it } from 'vitest'
import { signedRequest, watch } from '../../../../test/support/receiving.ts'
import type { ReadBody, WebhookReply } from '../http/request.ts'
import { replyTo } from './reply-to.ts'

it('writes the reply in the same turn when nothing has to be awaited', async () => {
  const { receiver } = watch()
  await receiver.start()
  const replies: WebhookReply[] = []
  replyTo(receiver, signedRequest(), reply => replies.push(reply))
  expect(replies).toMatchObject([{ status: 202 }])
})

it('writes the reply later when something has to be', async () => {
  const { receiver } = watch()
  const replies: WebhookReply[] = []
  // The first request starts the processing.
  await new Promise<void>(resolve => {
    replyTo(receiver, signedRequest(), reply => {
      replies.push(reply)
      resolve()
    })
    expect(replies).toEqual([])
  })
  expect(replies).toMatchObject([{ status: 202 }])
})

it('goes through a handle that somebody wrapped around that of the receiver', async () => {
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
  await new Promise<WebhookReply>(resolve => replyTo(wrapped, signedRequest(), resolve))
  expect(seen).toEqual([202])
})

it('answers 500 when a wrapped handle fails', async () => {
  const { receiver } = watch()
  const wrapped: typeof receiver = { ...receiver, handle: () => Promise.reject(new Error('wrapped badly')) }
  const reply = await new Promise<WebhookReply>(resolve => replyTo(wrapped, signedRequest(), resolve))
  expect(reply).toMatchObject({ status: 500, body: expect.stringContaining('internal_error') })
})

it('judges a body once, however often its reader hands it over', async () => {
  const { receiver, seen } = watch()
  await receiver.start()
  const request = signedRequest()
  const replies: WebhookReply[] = []
  const body: ReadBody = (_, done) => {
    done(request.body as Uint8Array)
    done(request.body as Uint8Array)
    return undefined
  }
  replyTo(receiver, { ...request, body }, reply => replies.push(reply))
  expect(replies).toMatchObject([{ status: 202 }])
  expect(seen.filter(({ kind }) => kind === 'duplicate')).toEqual([])
})

it('answers once where a reader hands the body over and fails afterwards', async () => {
  const { receiver } = watch()
  await receiver.start()
  const request = signedRequest()
  const replies: WebhookReply[] = []
  let failed: Promise<never> | undefined
  const body: ReadBody = (_, done) => {
    done(request.body as Uint8Array)
    failed = Promise.reject(new Error('closed badly'))
    return failed
  }
  replyTo(receiver, { ...request, body }, reply => replies.push(reply))
  await failed?.catch(() => {})
  expect(replies).toMatchObject([{ status: 202 }])
})

it('answers 500 when a reader of the body gives nothing and takes no second argument', async () => {
  const { receiver } = watch()
  const reply = await receiver.handle({ ...signedRequest(), body: (() => {}) as unknown as ReadBody })
  expect(reply.status).toBe(500)
})
