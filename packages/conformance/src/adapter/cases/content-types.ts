import { expectAccepted } from '../replies.ts'
import type { AdapterCase } from '../target.ts'
import { signedEvent } from '../wire/signed-event.ts'

const TYPES: readonly (readonly [id: string, type: string | undefined])[] = [
  ['none', undefined],
  ['charset', 'application/json; charset=utf-8'],
  ['wrong-charset', 'application/json; charset=utf-16le'],
  ['tab', 'application/json\t; x'],
  ['vendor', 'application/vnd.service.event+json'],
  ['text', 'text/plain'],
  ['form', 'application/x-www-form-urlencoded'],
  ['multipart', 'multipart/form-data; boundary=x'],
  ['octets', 'application/octet-stream'],
  ['garbage', 'json'],
  ['empty', ''],
]

/** Content-Type has no effect: the signature covers only the bytes. */
export const contentTypeCases: readonly AdapterCase[] = TYPES.map(([what, type]) => ({
  id: `adapter.content-type.${what}`,
  name: `a signed event is accepted with ${type === undefined ? 'no Content-Type' : `Content-Type '${type}'`}`,
  async run(target) {
    const event = signedEvent(target)
    const others = event.request.headers.filter(([name]) => name !== 'Content-Type')
    const headers = type === undefined ? others : [...others, ['Content-Type', type] as const]
    await expectAccepted(target, event, { headers })
  },
}))
