import { expect, it } from 'vitest'
import { fromText, sizeOfText, toText } from './message-text.ts'

const encode = (text: string) => new TextEncoder().encode(text)

it.each([
  ['text', encode('{"a":"ü 😀 \\u0000"}\r\n\t{ }')],
  ['a byte order mark', encode('\ufeff{}')],
  ['bytes that are not UTF-8', new Uint8Array([123, 255, 254, 125])],
  ['a character that SQS refuses', encode('{"a":"\uffff"}')],
  ['a control character', encode('{"a":"\u0001"}')],
  ['text that begins like the encoded form', encode('base64:e30=')],
  ['no bytes', new Uint8Array(0)],
])('keeps %s byte for byte, and counts it as SQS does', (_, bytes) => {
  const text = toText(bytes)
  expect(fromText(text)).toEqual(bytes)
  expect(sizeOfText(bytes)).toBe(Buffer.byteLength(text))
})

it('keeps text readable', () => {
  expect(toText(encode('{"id":"evt_ü"}'))).toBe('{"id":"evt_ü"}')
})
