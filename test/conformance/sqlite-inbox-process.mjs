// @ts-check
// A process with an inbox on a file. The suite kills or stops it, or delays its thread.

import { serveInbox } from '@ackhook/conformance/inbox'
import { delayedBy } from './delayed-thread.mjs'

const { path, control, seal } = JSON.parse(process.argv[2] ?? '')
// Loaded once the thread can be delayed.
const { sqliteInbox } = await import('@ackhook/sqlite')
if (control !== undefined) delayedBy(control)
const { sealedInbox } = await import('@ackhook/core/privacy')
const inbox = sqliteInbox({ path, lease: '1s', poll: '20ms' })
serveInbox(seal === undefined ? inbox : sealedInbox(inbox, await import(seal)))
