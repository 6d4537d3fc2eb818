// Closes while another connection locks the file: prints the result of close(), and that the shutdown continues.

import { sqliteInbox } from '@ackhook/sqlite'
import { DatabaseSync } from '@photostructure/sqlite'

const path = process.argv[2]
const EVENTS = 20
let ran = 0
const policy = {
  acknowledge: 'immediately',
  concurrency: EVENTS,
  capacity: 1000,
  retry: { attempts: 5, minDelayMs: 10, maxDelayMs: 50, factor: 2 },
  retentionMs: 3_600_000,
  serialize: false,
  clock: Date.now,
  observe() {},
  logger: { info() {}, warn() {}, error() {} },
}
const inbox = sqliteInbox({ path, lease: '1s' })
const handler = async () => {
  ran++
  await new Promise(resolve => setTimeout(resolve, 500))
  return { outcome: 'completed' }
}
await inbox.start(handler, policy)
const body = new TextEncoder().encode('{}')
for (let index = 0; index < EVENTS; index++) {
  const id = `evt_${index}`
  await inbox.accept({ key: id, namespace: '', id, type: 'a.b', body, fingerprint: 1, receivedAt: 0 })
}
while (ran < EVENTS) await new Promise(resolve => setTimeout(resolve, 10))
const other = new DatabaseSync(path)
other.exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE')
// By now, every result waits for the file.
await new Promise(resolve => setTimeout(resolve, 1000))
console.log(JSON.stringify(await inbox.close(1000)))
console.log('the rest of the shutdown')
