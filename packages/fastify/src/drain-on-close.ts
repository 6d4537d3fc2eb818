import type { Receiver } from '@ackhook/core'
import { withDeadline } from '@ackhook/core/spi'
import type { FastifyInstance } from 'fastify'

/** Share of `pluginTimeout` to wait: Fastify fails the whole close if a `preClose` hook exceeds it. */
const SHARE_OF_PLUGIN_TIMEOUT = 0.9

type Closable = Pick<Receiver, 'close'>

/** Receivers that one app drains when it closes, whatever their scopes. */
interface Drain {
  readonly receivers: Closable[]
  /** Settles when all are drained or `preClose` can wait no longer. */
  waited?: Promise<unknown>
}

/**
 * Drains by `initialConfig`, which all scopes of an app share. Two apps never share it, even on the same server.
 */
const drains = new WeakMap<FastifyInstance['initialConfig'], Drain>()

/**
 * Drains `receiver` as soon as `app` begins to close: `onClose` hooks run only after the last connection ends, and a
 * keep-alive connection may outlast the orchestrator's grace period. Waits in `preClose`, so that running handlers keep
 * resources that other plugins close in `onClose`, and in `onClose` for the rest. Hooks run one after the other, so the
 * first one begins to drain all of the app's receivers.
 */
export function drainOnClose<Events, Context>(
  app: FastifyInstance,
  receiver: Receiver<Events, Context>,
): void {
  const drain = drainOf(app)
  drain.receivers.push(receiver)
  app.addHook('preClose', async () => {
    drain.waited ??= begin(drain, app.initialConfig.pluginTimeout)
    await drain.waited
  })
  app.addHook('onClose', async () => void (await receiver.close()))
}

function drainOf({ initialConfig }: FastifyInstance): Drain {
  const known = drains.get(initialConfig)
  if (known !== undefined) return known
  const drain: Drain = { receivers: [] }
  drains.set(initialConfig, drain)
  return drain
}

/** Begins to drain all receivers. Never rejects: `onClose` reports failures and waits for slow ones. */
function begin({ receivers }: Drain, pluginTimeout = 0): Promise<unknown> {
  const drained = Promise.allSettled(receivers.map(receiver => receiver.close()))
  const ms = pluginTimeout * SHARE_OF_PLUGIN_TIMEOUT
  return ms > 0 ? withDeadline(drained, { operation: 'The drain', ms }).catch(() => {}) : drained
}
