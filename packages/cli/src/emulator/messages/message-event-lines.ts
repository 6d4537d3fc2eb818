import { printable } from '@ackhook/core/spi'
import type { MessageView, SentEvent } from '@ackhook/emulator'

/** Formats a changed message, with the event sent for it. */
export interface MessageEvent {
  readonly message: MessageView
  readonly event: SentEvent
}

export function messageEventLines({ message, event }: MessageEvent): readonly string[] {
  const [delivery] = event.deliveries
  const type = printable(delivery?.type ?? '')
  const fate = delivery?.reason == null ? 'is on its way' : `was not sent: ${printable(delivery.reason)}`
  return [`${message.id} is ${message.state}. The event ${event.id} (${type}, a guess) ${fate}.`]
}
