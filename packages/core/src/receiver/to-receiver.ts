import { ConfigurationError } from '../errors/errors.ts'
import type { EventSchemas, EventsOf } from '../events/event-types.ts'
import { createReceiver } from './create-receiver.ts'
import type { ReceiverOptions } from './options.ts'
import type { Receiver } from './receiver.ts'

/** Resolves an adapter's argument: options, or a receiver that others may share. */
export function toReceiver<const Schemas extends EventSchemas, Context, Strict extends boolean = boolean>(
  optionsOrReceiver: ReceiverOptions<Schemas, Context, Strict> | Receiver<EventsOf<Schemas, Strict>, Context>,
): Receiver<EventsOf<Schemas, Strict>, Context> {
  if (isReceiver(optionsOrReceiver)) return optionsOrReceiver
  if (isOfFramework(optionsOrReceiver)) {
    const fix = `was called by a framework instead of your code: mount webhooks({ secret }), and import it from that framework's adapter`
    throw new ConfigurationError('webhooks', fix, { page: 'frameworks' })
  }
  // Leaves a missing argument to `createReceiver`, whose error lists the options.
  return createReceiver(optionsOrReceiver)
}

/**
 * Returns whether an argument is a framework's request, context or app: a class instance, or derived from another
 * object, and without a secret.
 */
function isOfFramework(options: object | undefined): boolean {
  if (typeof options !== 'object' || options === null || 'secret' in options) return false
  return ![Object.prototype, null].includes(Object.getPrototypeOf(options))
}

function isReceiver<T>(value: T): value is Extract<T, { readonly handle: unknown }> {
  return typeof (value as { handle?: unknown } | null | undefined)?.handle === 'function'
}

/**
 * Throws {@link ConfigurationError} unless the argument is a receiver: options would be accepted, and fail at each
 * request.
 */
export function requireReceiver(receiver: object, taker: string): void {
  if (isReceiver(receiver)) return
  throw new ConfigurationError('receiver', `write ${taker}(createReceiver(options))`, { page: 'receivers' })
}

/**
 * Creates the error for a handler that was called without what it needs: by your code, if there is no argument at all, or
 * by another framework, which its argument tells.
 */
export function wrongFramework(handler: string, needs: string, given?: unknown): ConfigurationError {
  const fix =
    given === undefined
      ? `${handler} was called without a request. Mount it itself, without parentheses: app.post('/webhooks', hooks)`
      : `${handler} needs ${needs}, and another framework called it. ${adapterFor(given)}`
  return new ConfigurationError('webhooks', fix, { page: 'frameworks' })
}

/** Recognizes a framework by what it passes to handlers. */
function adapterFor(given: unknown): string {
  const has = (name: string) => typeof given === 'object' && given !== null && name in given
  const name = has('routeOptions') || has('decorate') ? 'fastify' : has('baseUrl') ? 'express' : undefined
  const adapter = name ?? (has('req') && has('header') ? 'hono' : undefined)
  return adapter === undefined
    ? "Import that framework's adapter"
    : `Import webhooks from '@ackhook/${adapter}'`
}
