import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { toFetchHandler } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'
import { describe } from 'vitest'
import { behaves, listen, receiverOf } from './behavior.ts'
import { load } from './load.ts'

type NodeHandler = (request: IncomingMessage, response: ServerResponse) => unknown

interface H3Version1 {
  createApp(): { use(path: string, handler: unknown): void }
  fromNodeMiddleware(handler: NodeHandler): unknown
  toNodeListener(app: unknown): RequestListener
}
interface H3Version2 {
  readonly H3: new () => { all(path: string, handler: unknown): void }
  fromNodeHandler(handler: NodeHandler): unknown
  toNodeHandler(app: unknown): RequestListener
}

describe('h3 2 with fromNodeHandler', () => {
  behaves(async setting => {
    const h3 = await load<H3Version2>('h3/node')
    const app = new h3.H3()
    app.all('/webhooks', h3.fromNodeHandler(toNodeHandler(receiverOf(setting)) as NodeHandler))
    return listen(h3.toNodeHandler(app))
  })
})

describe('h3 2 with a Fetch handler', () => {
  behaves(async setting => {
    const h3 = await load<H3Version2>('h3/node')
    const app = new h3.H3()
    const handler = toFetchHandler(receiverOf(setting))
    app.all('/webhooks', (event: { readonly req: Request }) => handler(event.req as never))
    return listen(h3.toNodeHandler(app))
  })
})

describe('h3 1, used by Nitro 2, with fromNodeMiddleware', () => {
  behaves(async setting => {
    const h3 = await load<H3Version1>('h3-1')
    const app = h3.createApp()
    app.use('/webhooks', h3.fromNodeMiddleware(toNodeHandler(receiverOf(setting)) as NodeHandler))
    return listen(h3.toNodeListener(app))
  })
})
