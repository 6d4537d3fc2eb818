// @ts-check
// A process with an inbox on a file. The suite kills the process.

import { serveInbox } from '@ackhook/conformance/inbox'
import { sqliteInbox } from '@ackhook/sqlite'

const { path } = JSON.parse(process.argv[2] ?? '')
serveInbox(sqliteInbox({ path, lease: '1s', poll: '20ms' }))
