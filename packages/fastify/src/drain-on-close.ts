import type { Receiver } from '@ackhook/core'
import { withDeadline } from '@ackhook/core/spi'
import type { FastifyInstance } from 'fastify'

/** Fastify gives a `preClose` hook its `pluginTimeout`, and fails the whole close when one takes longer. */
const SHARE_OF_PLUGIN_TIMEOUT = 0.9

type Closable = Pick<Receiver, 'close'>

/** Receivers that one app drains when it closes, in whatever scopes they were registered. */
interface Drain {
  readonly receivers: Closable[]
  /** Settles when all are drained, or when `preClose` can wait no longer. */
  waited?: Promise<unknown>
}

/**
 * Keyed by `initialConfig`: an app has one, its scopes share it, and two apps never do, though they may share a server.
 */
const drains = new WeakMap<FastifyInstance['initialConfig'], Drain>()

/**
 * Drains `receiver` as soon as `app` begins to close: `onClose` hooks run when the last connection has gone, and
 * one that is kept alive may stay longer than an orchestrator waits before it kills. Waits in `preClose`, so that
 * nothing that other plugins close in `onClose` is taken from a handler that runs, and in `onClose` for what is left.
 * Hooks run one after the other, so the first begins the drains of all receivers of the app.
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

/** Never rejects: whether one failed or takes longer, `onClose` finds out. */
function begin({ receivers }: Drain, pluginTimeout = 0): Promise<unknown> {
  const drained = Promise.allSettled(receivers.map(receiver => receiver.close()))
  const ms = pluginTimeout * SHARE_OF_PLUGIN_TIMEOUT
  return ms > 0 ? withDeadline(drained, { operation: 'The drain', ms }).catch(() => {}) : drained
}
