import type { Recording } from '@ackhook/contract'

let last = 0

/** Returns a recording of which nothing is redacted. */
export function recorded(type: string, data: object, changes: Partial<Recording> = {}): Recording {
  const event = { id: `evt_${++last}`, type, created_at: '2026-01-01T00:00:00Z', data }
  return {
    format: 'ackhook-recording-1',
    receivedAt: '2026-01-01T00:00:01.000Z',
    signature: { header: 'x-service-signature', scheme: 'v1', timestampUnit: 'seconds' },
    kept: 'all',
    event,
    ...changes,
  }
}

/** Returns recordings of every kind of value, more than enough for a set of values to look complete. */
export const VARIED: readonly Recording[] = [
  ...Array.from({ length: 12 }, (_, at) =>
    recorded('message.delivered', {
      message_id: `msg_${at}`,
      at: '2026-01-01T00:00:00Z',
      status: at % 2 === 0 ? 'sent' : 'failed',
      sent: 1_767_225_600,
      ticket: 2 ** 60,
      to: { phone: '+4915112345678', name: at % 3 === 0 ? null : 'Anna' },
      ...(at % 4 === 0 && { error_code: at }),
      tags: at % 2 === 0 ? [] : ['a', at],
      items: [{ sku: 'a1', count: 1 }, { sku: 'b2' }],
      'odd-name': true,
      nothing: null,
      never: [],
      empty: {},
      labels: { '4915112345678': 1, 'anna@example.com': 2 },
      mixed: { known: 1, '4915112345678': 'x' },
    }),
  ),
  recorded('conversation.resolved', {
    conversation_id: 'cnv_1',
    channel: 'whatsapp',
    resolved_by: 'ai',
    team: 'x',
  }),
]
