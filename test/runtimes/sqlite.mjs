/**
 * Child process with `sqliteInbox`: `sqlite.mjs <file> accept` accepts events whose handlers never end, and kills itself;
 * `sqlite.mjs <file> resume` prints each event that it handles, and drains when all of them are.
 */
import process from 'node:process'
import { createReceiver, toFetchHandler } from '@ackhook/core'
import { sqliteInbox } from '@ackhook/sqlite'
import { createEvent, signedRequest } from '@ackhook/testing'

const EVENTS = 20
const secret = 'whsec_runtimes_0123456789'
const [path, step] = process.argv.slice(2)

const receiver = createReceiver({ secret, inbox: sqliteInbox({ path }) })
let handled = 0
let finish
const all = new Promise(resolve => (finish = resolve))
receiver.on('conversation.resolved', async event => {
  if (step === 'accept') await new Promise(() => {})
  console.log(`handled ${event.id}`)
  if (++handled === EVENTS) finish()
})
await receiver.start()

if (step === 'accept') {
  const handle = toFetchHandler(receiver)
  const replies = await Promise.all(Array.from({ length: EVENTS }, (_, index) => handle(delivery(index))))
  if (replies.some(reply => reply.status !== 202)) throw new Error('an event was not accepted')
  process.kill(process.pid, 'SIGKILL')
}
await all
await receiver.close()
console.log('closed')

function delivery(index) {
  const event = createEvent('conversation.resolved', { id: `evt_${index}` })
  return new Request('http://localhost/webhooks', signedRequest(event, { secret }))
}
