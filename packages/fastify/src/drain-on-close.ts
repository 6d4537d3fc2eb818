import { type Receiver, withDeadline } from '@ackhook/core'
import type { FastifyInstance } from 'fastify'

/** Fastify gives a `preClose` hook its `pluginTimeout`, and fails the whole close when one takes longer. */
const SHARE_OF_PLUGIN_TIMEOUT = 0.9

/**
 * Drains `receiver` as soon as `app` begins to close: `onClose` hooks run when the last connection has gone, and
 * one that is kept alive may stay longer than an orchestrator waits before it kills. Waits in `preClose`, so that
 * nothing that other plugins close in `onClose` is taken from a handler that runs, and in `onClose` for what is left.
 */
export function drainOnClose<Events, Context>(
  app: FastifyInstance,
  receiver: Receiver<Events, Context>,
): void {
  app.addHook('preClose', async () => {
    const { pluginTimeout = 0 } = app.initialConfig
    const drained = receiver.close()
    const ms = pluginTimeout * SHARE_OF_PLUGIN_TIMEOUT
    // Whether it failed or takes longer, `onClose` finds out.
    await (ms > 0 ? withDeadline(drained, { operation: 'The drain', ms }) : drained).catch(() => {})
  })
  app.addHook('onClose', async () => void (await receiver.close()))
}
