import { expect, it } from 'vitest'
import { signedRequest, watch } from '../../../test/support/receiving.ts'
import type { WebhookReply } from './delivery.ts'
import { replyTo } from './respond.ts'

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
