// @ts-check
// A worker process: its receiver is never mounted, so it only works.
import { setTimeout as sleep } from 'node:timers/promises'
import { createReceiver } from '@ackhook/core'
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

// Under the demo it also ends with its parent, however that ends.
for (const signal of ['SIGINT', 'SIGTERM', 'disconnect']) {
  process.once(signal, async () => {
    await receiver.close({ timeout: '10s' })
    process.exit(0)
  })
}
