import { readdirSync, readlinkSync } from 'node:fs'
import { createReceiver } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'
import { sqliteInbox } from '@ackhook/sqlite'

const VERSION = 1

const log = ({ code }) => console.log(`log ${VERSION} ${code}`)
const receiver = createReceiver({
  secret: process.env.SIGNING_SECRET,
  inbox: sqliteInbox('webhooks.db'),
  retry: { attempts: 100, minDelay: '20ms', maxDelay: '50ms' },
  logger: { info: log, warn: log, error: log },
})
receiver.on('*', event => {
  console.log(`run ${VERSION} ${event.id} ${openFiles()}`)
  if (VERSION === 1 && event.id === 'evt_retried') throw new Error('until the edit')
})

/** Returns how often this process has the file open: once for each thread. Always 1 where there is no /proc. */
function openFiles() {
  try {
    const links = readdirSync('/proc/self/fd').map(fd => readlinkSync(`/proc/self/fd/${fd}`))
    return links.filter(link => link.endsWith('/webhooks.db')).length
  } catch {
    return 1
  }
}

export const config = { api: { bodyParser: false, externalResolver: true } }

// biome-ignore lint/style/noDefaultExport: Next.js looks for it.
export default toNodeHandler(receiver)
