import type { EventSchemas, KnownEvents } from './event-types.ts'
import type { ReceiverOptions } from './options.ts'
import { createReceiver } from './receiver.ts'
import type { Receiver } from './receiver-api.ts'

/** What every adapter takes: options, or a receiver that something else may share. */
export function toReceiver<const Schemas extends EventSchemas, Context>(
  optionsOrReceiver: ReceiverOptions<Schemas, Context> | Receiver<KnownEvents<Schemas>, Context>,
): Receiver<KnownEvents<Schemas>, Context> {
  return 'handle' in optionsOrReceiver ? optionsOrReceiver : createReceiver(optionsOrReceiver)
}
