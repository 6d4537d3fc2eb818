import { ConfigurationError } from '../errors/errors.ts'
import type { EventSchemas, KnownEvents } from '../events/event-types.ts'
import { createReceiver } from './create-receiver.ts'
import type { ReceiverOptions } from './options.ts'
import type { Receiver } from './receiver.ts'

/** What every adapter takes: options, or a receiver that something else may share. */
export function toReceiver<const Schemas extends EventSchemas, Context>(
  optionsOrReceiver: ReceiverOptions<Schemas, Context> | Receiver<KnownEvents<Schemas>, Context>,
): Receiver<KnownEvents<Schemas>, Context> {
  // A missing argument is for `createReceiver` to refuse: it says what the options are.
  return isReceiver(optionsOrReceiver) ? optionsOrReceiver : createReceiver(optionsOrReceiver)
}

function isReceiver<T>(value: T): value is Extract<T, { readonly handle: unknown }> {
  return typeof (value as { handle?: unknown } | null | undefined)?.handle === 'function'
}

/** Throws {@link ConfigurationError} unless `receiver` is one: options would be accepted, and fail at each request. */
export function requireReceiver(receiver: object, taker: string): void {
  if (isReceiver(receiver)) return
  throw new ConfigurationError('receiver', `write ${taker}(createReceiver(options))`, { page: 'receivers' })
}

/** For a handler that was called without what it needs: another framework called it. */
export function wrongFramework(handler: string, needs: string): ConfigurationError {
  const fix = `${handler} needs ${needs}, and another framework called it. Import the adapter of that one`
  return new ConfigurationError('webhooks', fix, { page: 'frameworks' })
}
