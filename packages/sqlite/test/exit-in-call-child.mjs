// Ends its process with code 7 while the inbox's thread waits for a file that another connection locks.

import { sqliteInbox } from '@ackhook/sqlite'
import { DatabaseSync } from '@photostructure/sqlite'

const path = process.argv[2]
const inbox = sqliteInbox({ path })
await inbox.stats()
new DatabaseSync(path).exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE')
inbox.forget('key').catch(() => {})
setTimeout(() => process.exit(7), 300)
