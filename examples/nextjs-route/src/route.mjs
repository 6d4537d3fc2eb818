// @ts-check
import { createReceiver, toFetchHandler } from '@ackhook/core'

// In a Next.js app, this file is app/webhooks/route.js. It needs no adapter: a route handler is a function from Request
// to Response. The reply waits for the handlers, because a serverless platform ends the function after its reply.
const receiver = createReceiver({
  // A function, because `next build` loads this file and has no secrets.
  secret: () => process.env['SIGNING_SECRET'] ?? '',
  acknowledge: 'after-processing',
})

receiver.on('conversation.resolved', async event => {
  console.log(`handler: ${event.data.conversation_id} was resolved by ${event.data.resolved_by}`)
})

export const POST = toFetchHandler(receiver)
