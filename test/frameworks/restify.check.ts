import type { Server } from 'node:http'
import { toNodeHandler } from '@ackhook/core/node'
import { describe } from 'vitest'
import { behaves, listen, receiverOf } from './behavior.ts'
import { load } from './load.ts'

interface Restify {
  createServer(): { readonly server: Server; post(path: string, handler: unknown): void }
}

// Its SPDY library reads a part of Node that Node 24 no longer has.
describe.skipIf(Number.parseInt(process.versions.node, 10) >= 24)('restify', () => {
  behaves(async setting => {
    const { default: restify } = await load<{ default: Restify }>('restify')
    const app = restify.createServer()
    app.post('/webhooks', toNodeHandler(receiverOf(setting)))
    return listen(app.server)
  })
})
