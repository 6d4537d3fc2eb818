import { createReceiver } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'

const receiver = createReceiver({ secret: () => process.env.SIGNING_SECRET ?? '' })
receiver.on('*', event => console.log(`handled ${event.id}`))

export const config = { api: { bodyParser: false } }
// biome-ignore lint/style/noDefaultExport: Next.js looks for it.
export default toNodeHandler(receiver)
