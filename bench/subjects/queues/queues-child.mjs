/** `queues-child.mjs <settings>`: accepts its share of the events and handles events. Sends the number it has handled. */
import { bullmqInbox } from '@ackhook/bullmq'
import { Cluster } from 'ioredis'
import { accepted, started } from '../durable/inbox.mjs'

const AT_A_TIME = 64
const { urls, queue, queues, events } = JSON.parse(process.argv[2])
const connection = urls.length === 1 ? urls[0] : new Cluster(urls)
const inbox = bullmqInbox({ connection, queue, queues })
let handled = 0
setInterval(() => {
  if (handled > 0) process.send(handled)
  handled = 0
}, 5)

await started(inbox, {
  concurrency: 16,
  process: async () => {
    handled++
    return { outcome: 'completed' }
  },
})
process.on('message', async message => {
  if (message === 'close') {
    await inbox.close(1000)
    process.exit()
  }
  let left = events
  const accept = async () => {
    while (left-- > 0) await accepted(inbox)
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, accept))
})
process.send(0)
