// @ts-check
// A process with an inbox on a file. The suite kills or stops it, or delays its thread; a test gives it a wrong clock.

import { serveInbox } from '@ackhook/conformance/inbox'
import { DatabaseSync } from '@photostructure/sqlite'
import { delayedBy } from './delayed-thread.mjs'

const { path, control, seal, aheadMs } = JSON.parse(process.argv[2] ?? '')
const { now } = Date
if (aheadMs !== undefined) Date.now = () => now() + aheadMs
// Loaded once the thread can be delayed.
const { sqliteInbox } = await import('@ackhook/sqlite')
if (control !== undefined) delayedBy(control)
const { sealedInbox } = await import('@ackhook/core/privacy')
// A thread would have the right clock.
const source = aheadMs === undefined ? { path } : { database: new DatabaseSync(path) }
const inbox = sqliteInbox({ ...source, lease: '1s', poll: '20ms' })
serveInbox(seal === undefined ? inbox : sealedInbox(inbox, await import(seal)))
