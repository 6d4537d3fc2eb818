import type { PlannedEvents } from '@ackhook/core/planned-events'
import { KNOWN_TYPES } from '@ackhook/core/spi'
import { createEvent } from './create-event.ts'

/** An event type for trying out a receiver. */
export interface EventType {
  readonly type: string
  /** `true` if the platform has published it. Otherwise its name and data are guesses. */
  readonly published: boolean
  readonly meaning: string
  /** Example data. */
  readonly data: Readonly<Record<string, unknown>>
}

const message = { message_id: 'msg_1', channel: 'whatsapp', to: '+4915112345678', template: 'order_shipped' }
const conversation = { conversation_id: 'cnv_1', channel: 'whatsapp' }
const call = { call_id: 'cal_1', from: '+4915112345678' }
const campaign = { campaign_id: 'cmp_1' }
const contact = { contact_id: 'con_1', phone: '+4915112345678' }

/** Nothing about these is published except that they are planned. */
const PLANNED: Readonly<Record<keyof PlannedEvents, readonly [meaning: string, data: EventType['data']]>> = {
  'message.sent': ['a message was sent', message],
  'message.delivered': ['a message was delivered', message],
  'message.read': ['a message was read', message],
  'message.failed': ['a message failed', { ...message, reason: 'unreachable' }],
  'message.received': [
    'an inbound message was received',
    { message_id: 'msg_2', channel: 'whatsapp', from: '+4915112345678', text: 'Where is my order?' },
  ],
  'conversation.opened': ['a conversation was opened', conversation],
  'conversation.assigned': ['a conversation was assigned', { ...conversation, assigned_to: 'agent_1' }],
  'conversation.reopened': ['a conversation was reopened', conversation],
  'call.started': ['a call started', call],
  'call.answered': ['a call was answered', { ...call, answered_by: 'ai' }],
  'call.completed': ['a call was completed', { ...call, duration_seconds: 95 }],
  'call.missed': ['a call was missed', call],
  'call.transferred': ['a call was transferred to a human', { ...call, transferred_to: 'agent_1' }],
  'campaign.started': ['a broadcast started', campaign],
  'campaign.completed': ['a broadcast was completed', { ...campaign, recipients: 250 }],
  'campaign.recipient_outcome': [
    'the outcome for one recipient of a broadcast',
    { ...campaign, to: '+4915112345678', outcome: 'delivered' },
  ],
  'contact.created': ['a contact was created', contact],
  'contact.updated': ['a contact was updated', { ...contact, changed: ['phone'] }],
  'contact.opted_in': ['a contact opted in', { ...contact, channel: 'whatsapp' }],
  'contact.opted_out': ['a contact opted out', { ...contact, channel: 'whatsapp' }],
}

/** The published types, then the planned ones. */
export const EVENT_TYPES: readonly EventType[] = [
  ...KNOWN_TYPES.map(type => ({
    type,
    published: true,
    meaning: 'a conversation was resolved',
    // Fixed sources, so that the list is the same each time.
    data: createEvent(type, {}, { random: () => 0 }).data,
  })),
  ...Object.entries(PLANNED).map(([type, [meaning, data]]) => ({ type, published: false, meaning, data })),
]
