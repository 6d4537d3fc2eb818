// A process with an inbox on a file. Reads commands from stdin, a line each, and prints what happens as lines of JSON.
import { createInterface } from 'node:readline'
import { createReceiver } from '@ackhook/core'
import { sqliteInbox } from '@ackhook/sqlite'
import { signedRequest } from '@ackhook/testing'

const [path, concurrency = '0'] = process.argv.slice(2)
const secret = 'whsec_file_under_us_0123456789'
const tell = (kind, fields = {}) => process.stdout.write(`${JSON.stringify({ kind, ...fields })}\n`)
const log = level => (fields, message) => tell('log', { level, ...fields, err: undefined, message })

const receiver = createReceiver({
  secret,
  inbox: sqliteInbox({ path, poll: '50ms', lease: '2s' }),
  concurrency: Number(concurrency),
  logger: { info: log('info'), warn: log('warn'), error: log('error') },
})
const waiting = []
receiver.on('*', async (event, { signal }) => {
  signal.addEventListener('abort', () => tell('withdrawn', { id: event.id, code: signal.reason.code }))
  tell('begins', { id: event.id })
  await new Promise(resolve => waiting.push(resolve))
  tell('ends', { id: event.id })
})
try {
  await receiver.start()
  tell('started')
} catch (error) {
  tell('refused', { name: error.name, code: error.code, message: error.message })
  process.exit(3)
}

async function deliver(id) {
  const event = { id, type: 'a.b', created_at: '2026-11-22T00:00:00Z', data: {} }
  return (await receiver.handle(signedRequest(event, { secret }))).status
}

for await (const line of createInterface({ input: process.stdin })) {
  const [command, ...rest] = line.split(' ')
  if (command === 'deliver') {
    const [prefix, count] = rest
    const ids = Array.from({ length: Number(count) }, (_, index) => `${prefix}_${index}`)
    const statuses = []
    for (const id of ids) statuses.push(await deliver(id))
    const acknowledged = ids.filter((_, index) => statuses[index] < 300)
    tell('delivered', { prefix, acknowledged, statuses: [...new Set(statuses)] })
  } else if (command === 'block')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(rest[0]))
  else if (command === 'release') for (const resolve of waiting.splice(0)) resolve()
  else if (command === 'stats')
    tell('stats', await receiver.stats().catch(error => ({ failed: error.message })))
  else if (command === 'close') {
    await receiver.close({ timeout: '1s' })
    tell('closed')
    process.exit()
  }
}
