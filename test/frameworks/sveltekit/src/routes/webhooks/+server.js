import { createReceiver, toFetchHandler } from '@ackhook/core'

const receiver = createReceiver({ secret: () => process.env.SIGNING_SECRET ?? '' })
receiver.on('*', event => console.log(`handled ${event.id}`))

const handleWebhook = toFetchHandler(receiver)

export const POST = event => handleWebhook(event.request, event)
