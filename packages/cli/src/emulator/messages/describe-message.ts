import { printable } from '@ackhook/core/spi'
import type { MessageView } from '@ackhook/emulator'

/** Formats a message for a list. */
export function messageRow(message: MessageView): readonly string[] {
  const { id, direction, channel, state, createdAt, to, from, template, text } = message
  const who = direction === 'outbound' ? `to ${to}` : `from ${from}`
  return [state, channel, who, template ?? text ?? '', createdAt, id].map(printable)
}
