// @ts-check
// A worker process: its receiver is never mounted, so it only runs handlers.
import { setTimeout as sleep } from 'node:timers/promises'
import { createReceiver } from '@ackhook/core'
import { gracefulShutdown } from '@ackhook/core/node'
import { receiverOptions } from './options.mjs'

const receiver = createReceiver({ ...receiverOptions(), concurrency: 4 })
receiver.on('conversation.resolved', async event => {
  process.send?.({ begun: event.id })
  await sleep(20)
  // The demo counts handled events; without it, the handler only logs.
  if (process.send) process.send({ handled: event.id })
  else console.log(`handled ${event.id}`)
})
await receiver.start()
if (process.send) process.send({ ready: true })
else console.log('Working')

const shutDown = gracefulShutdown(receiver)
// Ends with the demo that started it, if any.
process.once('disconnect', () => shutDown().then(() => process.exit()))
