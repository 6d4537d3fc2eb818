import { createReceiver, toFetchHandler } from '@ackhook/core'

const receiver = createReceiver({ secret: () => process.env.SIGNING_SECRET ?? '' })
receiver.on('*', async event => {
  await new Promise(resolve => setTimeout(resolve, 300))
  console.log(`handled ${event.id}`)
})
export const handleWebhook = toFetchHandler(receiver)
