// Ends its process, with 7, while the thread of the inbox waits for a file that another connection holds.

import { sqliteInbox } from '@ackhook/sqlite'
import { DatabaseSync } from '@photostructure/sqlite'

const path = process.argv[2]
const inbox = sqliteInbox({ path })
await inbox.stats()
new DatabaseSync(path).exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE')
inbox.forget('key').catch(() => {})
setTimeout(() => process.exit(7), 300)
