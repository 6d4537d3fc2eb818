// @ts-check
// A worker process: its receiver is never mounted, so it only works.
import { setTimeout as sleep } from 'node:timers/promises'
import { createReceiver } from '@ackhook/core'
import { receiverOptions } from './options.mjs'

const receiver = createReceiver({ ...receiverOptions(), concurrency: 4 })
receiver.on('conversation.resolved', async event => {
  process.send?.({ begun: event.id })
  await sleep(20)
  process.send?.({ handled: event.id })
})
await receiver.start()
process.send?.({ ready: true })

process.once('SIGTERM', async () => {
  await receiver.close({ timeout: '10s' })
  process.exit(0)
})
