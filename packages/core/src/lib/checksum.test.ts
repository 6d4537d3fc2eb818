import { expect, it } from 'vitest'
import { checksum } from './checksum.ts'

const encoder = new TextEncoder()
const bytesOf = (length: number) =>
  Uint8Array.from({ length }, (_, index) => (index * 31 + (index >> 5)) % 256)

it.each([
  ['', 0x02cc5d05],
  ['a', 0x550d7456],
  ['abc', 0x32d153ff],
  ['Nobody inspects the spammish repetition', 0xe2293b2f],
])('gives the xxHash32 of %j, signed', (text, expected) => {
  expect(checksum(encoder.encode(text))).toBe(expected | 0)
})

it.each([1, 3, 4, 15, 16, 17, 300, 4095, 4096, 4097, 20_001])('changes with each byte of %d', length => {
  const bytes = bytesOf(length)
  const seen = new Set([checksum(bytes)])
  // Each of the first and the last, and some between.
  const places = [...bytes.keys()].filter(at => at < 20 || at >= length - 20 || at % 97 === 0)
  for (const at of places) {
    const other = bytes.slice()
    other[at]! ^= 0x80
    seen.add(checksum(other))
  }
  expect(seen.size).toBe(places.length + 1)
})

it.each([0, 5, 300, 5000])('reads a window of %d bytes wherever it begins, and only that', length => {
  const bytes = bytesOf(length)
  for (const offset of [0, 1, 2, 3, 7]) {
    const larger = new Uint8Array(length + 20).fill(255)
    larger.set(bytes, offset)
    expect(checksum(larger.subarray(offset, offset + length))).toBe(checksum(bytes))
  }
})

it('depends on no body before', () => {
  const before = checksum(bytesOf(300))
  checksum(new Uint8Array(4096).fill(255))
  expect(checksum(bytesOf(300))).toBe(before)
})
