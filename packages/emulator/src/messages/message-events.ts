import type { MessageRow } from '../storage/message-rows.ts'

/** States of an outbound message. Their names are published; the event types are not. */
export const MESSAGE_STATES = ['sent', 'delivered', 'read', 'failed'] as const
/** State of an outbound message. */
export type MessageState = (typeof MESSAGE_STATES)[number]

/** Returns a guess at the event for an outbound message's new state. */
export function outboundEvent(row: MessageRow, state: MessageState): { type: string; data: object } {
  const { id, channel, number, template } = row
  return { type: `message.${state}`, data: { message_id: id, channel, to: number, template } }
}

/** Returns a guess at the event for an inbound message. */
export function inboundEvent(row: Omit<MessageRow, 'seq'>): { type: string; data: object } {
  const { id, channel, number, content } = row
  return {
    type: 'message.received',
    data: { message_id: id, channel, from: number, text: JSON.parse(content) },
  }
}
