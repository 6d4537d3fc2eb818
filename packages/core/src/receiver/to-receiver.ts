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
