import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { equalsDigest } from './constant-time.ts'

const sha = (text: string) => createHash('sha256').update(text)
const digest = sha('a').digest('binary')
const hex = sha('a').digest('hex')

it('finds equal what spells the same bytes, in either case', () => {
  expect(equalsDigest(digest, hex)).toBe(true)
  expect(equalsDigest(digest, hex.toUpperCase())).toBe(true)
})

it('knows every value of a byte', () => {
  for (let value = 0; value < 256; value++) {
    const bytes = Buffer.alloc(32, value)
    expect(equalsDigest(bytes.toString('latin1'), bytes.toString('hex'))).toBe(true)
    expect(equalsDigest(bytes.toString('latin1'), Buffer.alloc(32, value ^ 1).toString('hex'))).toBe(false)
  }
})

it('sees one changed digit wherever it stands', () => {
  for (let i = 0; i < 64; i++) {
    for (const bit of [1, 2, 4, 8]) {
      const digit = (Number.parseInt(hex[i] as string, 16) ^ bit).toString(16)
      expect(equalsDigest(digest, hex.slice(0, i) + digit + hex.slice(i + 1))).toBe(false)
    }
  }
})

it('refuses every length but 64, beginning with the right digits or not', () => {
  for (let length = 0; length < 64; length++) expect(equalsDigest(digest, hex.slice(0, length))).toBe(false)
  expect(equalsDigest(digest, `${hex}0`)).toBe(false)
  expect(equalsDigest(digest, hex + hex)).toBe(false)
})

it('refuses a digest that is not 32 bytes long', () => {
  const zeros = '0'.repeat(64)
  expect(equalsDigest('\0'.repeat(32), zeros)).toBe(true)
  expect(equalsDigest('\0'.repeat(31), zeros)).toBe(false)
  expect(equalsDigest('\0'.repeat(33), zeros)).toBe(false)
  expect(equalsDigest('', zeros)).toBe(false)
})
