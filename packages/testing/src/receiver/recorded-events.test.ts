import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createReceiver } from '@ackhook/core'
import { expect, it } from 'vitest'
import { createEvent, recordedEvents, testReceiver } from '../index.ts'

const secret = 'whsec_0123456789abcdef'
const event = createEvent('conversation.resolved')

function folderWith(files: Readonly<Record<string, unknown>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-events-'))
  for (const [name, value] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(value))
  return folder
}

it('delivers recorded and saved deliveries to the handlers', async () => {
  const other = createEvent('conversation.resolved')
  const folder = folderWith({
    'a.json': { format: 'ackhook-recording-1', event },
    'b.json': { format: 'ackhook-delivery-1', body: Buffer.from(JSON.stringify(other)).toString('base64') },
    'notes.txt': 'no delivery',
  })
  const receiver = createReceiver({ secret })
  const seen: string[] = []
  receiver.on('*', ({ id }) => void seen.push(id))
  const app = testReceiver(receiver, { secret })
  for (const one of recordedEvents(folder)) expect((await app.deliverEvent(one)).outcome).toBe('handled')
  expect(seen).toEqual([event.id, other.id])
  expect(recordedEvents(join(folder, 'a.json'))).toEqual([event])
})

it.each([
  ['nothing', {}, /has no recorded delivery/],
  ['another file', { 'a.json': { name: 'package' } }, /a\.json is no recorded delivery: it has neither/],
])('names the file if there is %s', (_, files, message) => {
  expect(() => recordedEvents(folderWith(files))).toThrow(message)
})

it('names a path that does not exist', () => {
  expect(() => recordedEvents('/none/here')).toThrow('there is no file or folder /none/here')
})
