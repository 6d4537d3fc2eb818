import { toInstant } from '../lib/time.ts'
import type { MessageState } from '../shapes/requests.ts'
import type { MessageRow } from '../storage/message-rows.ts'

/** A message. Everything but the request's four fields is a guess. */
export interface MessageView {
  readonly id: string
  readonly seq: number
  readonly workspace: string
  readonly direction: 'outbound' | 'inbound'
  readonly channel: string
  /** Recipient of an outbound message. */
  readonly to?: string
  readonly template?: string
  readonly variables?: Readonly<Record<string, unknown>> | null
  /** Sender of an inbound message. */
  readonly from?: string
  readonly text?: string
  /** `accepted`, or the state the message was advanced to; `received` if inbound. */
  readonly state: string
  readonly guess: true
  readonly createdAt: string
  readonly updatedAt: string
}

export function toMessageView(row: MessageRow): MessageView {
  const content = JSON.parse(row.content)
  const own =
    row.direction === 'outbound'
      ? { to: row.number, template: row.template ?? '', variables: content }
      : { from: row.number, text: content }
  return {
    id: row.id,
    seq: row.seq,
    workspace: row.workspace,
    direction: row.direction,
    channel: row.channel,
    ...own,
    state: row.state,
    guess: true,
    createdAt: toInstant(row.created_at),
    updatedAt: toInstant(row.updated_at),
  }
}

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
