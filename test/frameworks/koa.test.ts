import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { toNodeHandler } from '@ackhook/core/node'
import { describe } from 'vitest'
import { behaves, listen, receiverOf } from './behavior.ts'
import { isInstalled, load } from './load.ts'

interface Context {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  respond: boolean
}
interface Koa {
  use(middleware: (context: Context) => Promise<void>): void
  callback(): RequestListener
}

// The only framework of this folder in the default run, if it is installed.
describe.skipIf(!isInstalled('koa'))('Koa', () => {
  behaves(async setting => {
    const handler = toNodeHandler(receiverOf(setting))
    const { default: KoaApp } = await load<{ default: new () => Koa }>('koa')
    const app = new KoaApp()
    app.use(async context => {
      context.respond = false
      await handler(context.req as never, context.res)
    })
    return listen(app.callback())
  })
})
