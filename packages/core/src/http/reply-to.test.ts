import { expect, it } from 'vitest'
import { signedRequest, watch } from '../../../../test/support/receiving.ts'
import { replyTo } from './reply.ts'
import type { ReadBody, WebhookReply } from './request.ts'

it('writes the reply before the event loop turns when nothing has to be waited for', async () => {
  const { receiver } = watch()
  await receiver.start()
  const replies: WebhookReply[] = []
  replyTo(receiver, signedRequest(), reply => replies.push(reply))
  await new Promise(resolve => process.nextTick(resolve))
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

it('answers 500 when a wrapped handle throws at once', () => {
  const wrapped = {
    handle(): Promise<WebhookReply> {
      throw new Error('wrapped badly')
    },
  }
  const replies: WebhookReply[] = []
  replyTo(wrapped, signedRequest(), reply => replies.push(reply))
  expect(replies).toMatchObject([{ status: 500, body: expect.stringContaining('internal_error') }])
})

it('answers 500 when a reader of the body gives nothing', async () => {
  const { receiver } = watch()
  const reply = await receiver.handle({ ...signedRequest(), body: (() => {}) as unknown as ReadBody })
  expect(reply.status).toBe(500)
})
