/** `worker-child.mjs <engine> <url> <queue> <hashes>`: handles a backlog. Sends the end time of each handler. */
import { hash } from 'node:crypto'
import { createReceiver } from '@ackhook/core'
import { SECRET } from '../../lib/dialects.mjs'
import { openInbox } from './open-inbox.mjs'

const [engine, url, queue, hashes] = process.argv.slice(2)
const block = Buffer.alloc(65_536)
const receiver = createReceiver({ secret: SECRET, inbox: openInbox(engine, url, queue) })
receiver.on('conversation.resolved', () => {
  for (let i = 0; i < Number(hashes); i++) hash('sha256', block, 'hex')
  process.send(performance.timeOrigin + performance.now())
})
process.on('message', async () => {
  await receiver.close()
  process.exit()
})
await receiver.start()
