import { createReceiver, toFetchHandler } from '@ackhook/core'

/** Fewer slots than events at once, and a handler timeout short enough to wait for. */
const options = { concurrency: 4, handlerTimeout: '1s' }

/** Creates receivers for questions beyond the conformance suite: which receiver handled which events, and its stats. */
export function createLoad({ secretOf, ...quiet }) {
  const counts = {}
  const receivers = {
    immediately: receiver('immediately', {}),
    after: receiver('after', { acknowledge: 'after-processing' }),
    lanes: receiver('lanes', { serializeBy: laneOf }),
    lanesAfter: receiver('lanesAfter', { serializeBy: laneOf, acknowledge: 'after-processing' }),
  }

  function receiver(name, more) {
    const made = createReceiver({ ...quiet, ...options, ...more, secret: ({ env }) => secretOf(env) })
    counts[name] = {}
    return made.on('*', async ({ id, data }) => {
      await new Promise(resolve => setTimeout(resolve, data.ms))
      counts[name][id] = (counts[name][id] ?? 0) + 1
    })
  }

  return {
    /** `path` is `/load/<name>`. Without an execution context, nothing keeps a request alive after its reply. */
    async fetch(request, env, execution) {
      const [, , name, orphan] = new URL(request.url).pathname.split('/')
      if (name === 'counts') return Response.json({ counts, stats: await statsOf(receivers) })
      return toFetchHandler(receivers[name])(request, env, orphan === undefined ? execution : undefined)
    },
  }
}

function laneOf({ data }) {
  return data.lane
}

async function statsOf(receivers) {
  const stats = {}
  for (const [name, receiver] of Object.entries(receivers)) stats[name] = await receiver.stats()
  return stats
}
