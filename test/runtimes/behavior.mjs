import { createReceiver, toFetchHandler } from '@ackhook/core'

/** Absent if the runtime has no such module. */
const { AsyncLocalStorage } = globalThis.process?.getBuiltinModule?.('node:async_hooks') ?? {}
const storage = AsyncLocalStorage && new AsyncLocalStorage()
const never = () => new Promise(() => {})

/** Creates typical receivers for behavior that shows only on the runtime itself: its output, timers and contexts. */
export function createBehavior({ secretOf }) {
  const contexts = {}
  const secret = ({ env }) => secretOf(env)
  const receivers = {
    // Uses the default logger.
    logging: createReceiver({ secret, retry: { attempts: 1 } }).on('*', () => {
      throw new Error('thrown on purpose')
    }),
    secret: createReceiver({ secret: never }).on('*', () => {}),
    schema: createReceiver({
      secret,
      events: { 'conversation.resolved': { '~standard': { version: 1, vendor: 'test', validate: never } } },
    }).on('*', () => {}),
    // With one slot, an attempt may begin in another request's turn.
    context: createReceiver({ secret, concurrency: 1 }).on('*', async ({ id }) => {
      contexts[id] = storage?.getStore() ?? 'none'
      await new Promise(resolve => setTimeout(resolve, 20))
    }),
  }
  return {
    /** `path` is `/behavior/<name>`. */
    async fetch(request, env, execution) {
      const { pathname, searchParams } = new URL(request.url)
      const [, , name] = pathname.split('/')
      if (name === 'contexts') return Response.json(contexts)
      const handle = () => toFetchHandler(receivers[name])(request, env, execution)
      return storage === undefined ? handle() : storage.run(searchParams.get('request'), handle)
    },
  }
}
