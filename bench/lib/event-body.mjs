const SENTENCE = 'Thank you for your patience, the parcel will be with you on Thursday before noon. '

/**
 * Returns a `conversation.resolved` event of exactly `size` bytes: an envelope, filled up with a transcript. The id has 32
 * characters and starts at `idAt`, so that copies can have other ids.
 */
export function eventBody(size) {
  const data = { conversation_id: 'cnv_01hv8e5k2m', channel: 'whatsapp', resolved_by: 'ai' }
  const event = {
    id: `evt_${'0'.repeat(28)}`,
    type: 'conversation.resolved',
    created_at: '2026-11-21T10:15:30.000Z',
    data: { ...data, workspace: 'wsp_4471', priority: 2, tags: ['delivery'], messages: [], note: '' },
  }
  for (let number = 1; Buffer.byteLength(JSON.stringify(event)) + 230 < size; number++) {
    event.data.messages.push(message(number))
  }
  event.data.note = 'x'.repeat(size - Buffer.byteLength(JSON.stringify(event)))
  const bytes = Buffer.from(JSON.stringify(event))
  return { bytes, idAt: bytes.indexOf('evt_'), size: bytes.length }
}

function message(number) {
  return {
    id: `msg_${String(number).padStart(8, '0')}`,
    author: number % 2 === 0 ? 'agent' : 'customer',
    sent_at: '2026-11-21T10:14:05.120Z',
    read: number % 3 !== 0,
    text: SENTENCE,
  }
}

/** Writes the number's digits after `evt_`: every event of a run has its own id. */
export function writeId(bytes, idAt, number) {
  bytes.write(String(number).padStart(28, '0'), idAt + 4, 'latin1')
}
