import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { toFetchHandler } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'
import { webhooks } from '@ackhook/express'
import { getRequestListener } from '@hono/node-server'
import { describe } from 'vitest'
import { behaves, listen, receiverOf, type Setting } from './behavior.ts'
import { load } from './load.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown

/** Makes names unique: the framework keeps functions by name for the life of the process. */
let count = 0

async function startGoogle(handler: Handler): Promise<string> {
  const { http } = await load<{ http(name: string, handler: Handler): void }>(
    '@google-cloud/functions-framework',
  )
  const { getTestServer } = await load<{ getTestServer(name: string): Server }>(
    '@google-cloud/functions-framework/testing',
  )
  const name = `webhooks${count++}`
  http(name, handler)
  return listen(getTestServer(name))
}

describe('Google Cloud Functions with toNodeHandler', () => {
  behaves(setting => startGoogle(toNodeHandler(receiverOf(setting)) as Handler))
})

describe('Google Cloud Functions with the Express adapter', () => {
  behaves(({ options, setUp }) => {
    const hooks = webhooks(options as never)
    setUp(hooks as never)
    return startGoogle(hooks as never)
  })
})

describe('a Netlify function, which receives a Fetch request and a context', () => {
  behaves(setting => {
    const handler = toFetchHandler(receiverOf(setting))
    return listen(
      getRequestListener(request => handler(request, { waitUntil: () => {} } as never)) as RequestListener,
    )
  })
})

describe('a Vercel function, which receives only a Fetch request', () => {
  behaves(setting => {
    const POST = toFetchHandler(receiverOf(setting))
    return listen(getRequestListener(request => POST(request)) as RequestListener)
  })
})

describe('a Vercel function, which receives requests whose getter parses the body', () => {
  const start = (setting: Setting) => {
    const handler = toNodeHandler(receiverOf(setting)) as Handler
    return listen(
      createServer((request, response) => {
        // Vercel's helpers parse lazily, and throw if the body is not JSON.
        Object.defineProperty(request, 'body', {
          get() {
            throw new Error('Invalid JSON')
          },
        })
        return handler(request, response)
      }),
    )
  }
  behaves(start)
})
