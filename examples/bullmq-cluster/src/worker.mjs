// @ts-check
// A worker process: its receiver is never mounted, so it only works.
import { setTimeout as sleep } from 'node:timers/promises'
import { createReceiver } from '@ackhook/core'
import { gracefulShutdown } from '@ackhook/core/node'
import { receiverOptions } from './options.mjs'

const receiver = createReceiver({ ...receiverOptions(), concurrency: 4 })
receiver.on('conversation.resolved', async event => {
  process.send?.({ begun: event.id })
  await sleep(20)
  // Under the demo its parent counts; otherwise this line is all that happens.
  if (process.send) process.send({ handled: event.id })
  else console.log(`handled ${event.id}`)
})
await receiver.start()
if (process.send) process.send({ ready: true })
else console.log('Working')

const shutDown = gracefulShutdown(receiver)
// Under the demo it also ends with its parent, however that ends.
process.once('disconnect', () => shutDown().then(() => process.exit()))
