/** `worker-child.mjs <inbox> <places as JSON> <queue> <hashes>`: handles a backlog. Sends the end time of each handler. */
import { hash } from 'node:crypto'
import { createReceiver } from '@ackhook/core'
import { SECRET } from '../../lib/dialects.mjs'
import { openInbox } from '../../lib/inboxes.mjs'

const [inbox, places, queue, hashes] = process.argv.slice(2)
const block = Buffer.alloc(65_536)
const receiver = createReceiver({
  secret: SECRET,
  ...(await openInbox(inbox, JSON.parse(places), queue)),
})
receiver.on('conversation.resolved', () => {
  for (let i = 0; i < Number(hashes); i++) hash('sha256', block, 'hex')
  process.send(performance.timeOrigin + performance.now())
})
process.on('message', async () => {
  await receiver.close()
  process.exit()
})
await receiver.start()
