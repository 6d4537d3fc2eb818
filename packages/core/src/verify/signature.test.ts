import { createHash, createHmac } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { hmac as nodeHmac } from '../platform/node/hmac.ts'
import type { Mac } from '../platform/platform.ts'
import { hmac as webHmac } from '../platform/web/hmac.ts'
import { parseSignatureHeader, type SignatureHeader } from './signature-header.ts'
import { equalsDigest, verifySignature } from './verify-request.ts'

const body = new TextEncoder().encode('{"id":"evt_1"}')
const OLD = 'an old secret of some bytes'
const NEW = 'a new secret of some bytes'
const hex = (secret: string, t = '1') =>
  createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')
const header = (...signatures: string[]) => parse(['t=1', ...signatures.map(one => `v1=${one}`)].join())
const parse = (text: string) => parseSignatureHeader(text, 'v1') as SignatureHeader

describe.each([
  ['node', nodeHmac],
  ['web', webHmac],
])('verifying on %s', (_, hmacOf) => {
  const secrets = (...texts: string[]) => texts.map(hmacOf)

  it('accepts the HMAC of t, a dot and the bytes', async () => {
    expect(await verifySignature(header(hex(OLD)), body, secrets(OLD))).toBe(true)
  })

  it('refuses a different secret, a different t and different bytes', async () => {
    expect(await verifySignature(header(hex(NEW)), body, secrets(OLD))).toBe(false)
    expect(await verifySignature(header(hex(OLD, '2')), body, secrets(OLD))).toBe(false)
    expect(await verifySignature(header(hex(OLD)), body.subarray(1), secrets(OLD))).toBe(false)
    expect(await verifySignature(header(hex(OLD)), new Uint8Array(0), secrets(OLD))).toBe(false)
  })

  it('accepts any of the signatures, in any position', async () => {
    for (const good of [0, 1, 2]) {
      const signatures = [0, 1, 2].map(i => (i === good ? hex(OLD) : hex('nobody knows this one')))
      expect(await verifySignature(header(...signatures), body, secrets(OLD))).toBe(true)
    }
  })

  it('accepts any of the secrets, in any position', async () => {
    expect(await verifySignature(header(hex(OLD)), body, secrets(OLD, NEW, 'x'))).toBe(true)
    expect(await verifySignature(header(hex(NEW)), body, secrets(OLD, NEW, 'x'))).toBe(true)
    expect(await verifySignature(header(hex('x')), body, secrets(OLD, NEW, 'x'))).toBe(true)
    expect(await verifySignature(header(hex('y')), body, secrets(OLD, NEW, 'x'))).toBe(false)
  })

  it('finds a signature at the end of the longest header', async () => {
    const longest = parse(`t=1,x=${'x'.repeat(4096 - 6 - 4 - 64)},v1=${hex(OLD)}`)
    expect(await verifySignature(longest, body, secrets(OLD))).toBe(true)
  })

  it.each(['é', '€', '\u{1f600}', '\ud800', 'é'.repeat(2000)])(
    'finds a signature after %j, which shifts bytes against characters',
    async other => {
      for (const value of [`t=1,x=${other},v1=${hex(OLD)}`, `t=1,v1=${hex(OLD)},x=${other}`]) {
        expect(await verifySignature(parse(value), body, secrets(OLD))).toBe(true)
        expect(await verifySignature(parse(value), body, secrets(NEW))).toBe(false)
      }
    },
  )

  it('compares only the text after the scheme', async () => {
    const elsewhere = `t=1,y=${'é'.repeat(68)},z=${hex(OLD)},v1=${hex(NEW)},p=`
    expect(await verifySignature(parse(elsewhere), body, secrets(OLD))).toBe(false)
    expect(await verifySignature(parse(`t=1,v1=${hex(OLD)},é=`.padEnd(4096, 'a')), body, secrets(OLD))).toBe(
      true,
    )
  })

  it('is not misled by the header of an interleaved request', async () => {
    const [first, second] = [header(hex(OLD)), header(hex(NEW), hex(OLD, '2'))]
    const waiting = verifySignature(first, body, secrets(OLD))
    expect(await verifySignature(second, body, secrets(OLD))).toBe(false)
    expect(await waiting).toBe(true)
  })

  it('refuses everything without a secret', async () => {
    expect(await verifySignature(header(hex(OLD)), body, [])).toBe(false)
  })

  it('reads a body that is a window on a larger buffer', async () => {
    const larger = new Uint8Array(100).fill(7)
    larger.set(body, 13)
    const window = larger.subarray(13, 13 + body.length)
    expect(await verifySignature(header(hex(OLD)), window, secrets(OLD))).toBe(true)
  })
})

describe('the number of HMACs', () => {
  const wrong = 'f'.repeat(64)
  const digestOf = (secret: string) => hex(secret)

  it.each([
    [
      'that are synchronous',
      (secret: string): Mac =>
        () =>
          digestOf(secret),
    ],
    [
      'that are asynchronous',
      (secret: string): Mac =>
        async () =>
          digestOf(secret),
    ],
  ])('is one for each secret %s, however many signatures there are', async (_, macOf) => {
    const macs = [OLD, NEW, 'third'].map(secret => vi.fn(macOf(secret)))
    const signatures = Array(16).fill(wrong)
    expect(await verifySignature(header(...signatures), body, macs)).toBe(false)
    for (const mac of macs) expect(mac.mock.calls).toEqual([['1', body]])
  })

  it.each([
    [
      'that are synchronous',
      (secret: string): Mac =>
        () =>
          digestOf(secret),
    ],
    [
      'that are asynchronous',
      (secret: string): Mac =>
        async () =>
          digestOf(secret),
    ],
  ])('ends with the secret that matched, for those %s', async (_, macOf) => {
    const macs = [OLD, NEW, 'third'].map(secret => vi.fn(macOf(secret)))
    expect(await verifySignature(header(hex(NEW)), body, macs)).toBe(true)
    expect(macs.map(mac => mac.mock.calls.length)).toEqual([1, 1, 0])
  })

  it('accepts secrets of both kinds in one list', async () => {
    const macs = [nodeHmac(OLD), webHmac(NEW), nodeHmac('third secret')]
    expect(await verifySignature(header(hex('third secret')), body, macs)).toBe(true)
    expect(await verifySignature(header(hex(NEW)), body, macs)).toBe(true)
    expect(await verifySignature(header(wrong), body, macs)).toBe(false)
  })
})

const digest = createHash('sha256').update('a').digest('hex')

it('treats the same digits as equal, in either case', () => {
  expect(equalsDigest(digest, digest)).toBe(true)
  expect(equalsDigest(digest, digest.toUpperCase())).toBe(true)
})

it('handles every byte value', () => {
  for (let value = 0; value < 256; value++) {
    const bytes = Buffer.alloc(32, value).toString('hex')
    expect(equalsDigest(bytes, bytes)).toBe(true)
    expect(equalsDigest(bytes, Buffer.alloc(32, value ^ 1).toString('hex'))).toBe(false)
  }
})

it('detects one changed digit in any position', () => {
  for (let i = 0; i < 64; i++) {
    for (const bit of [1, 2, 4, 8]) {
      const digit = (Number.parseInt(digest[i] as string, 16) ^ bit).toString(16)
      expect(equalsDigest(digest, digest.slice(0, i) + digit + digest.slice(i + 1))).toBe(false)
    }
  }
})

it('treats no other character as a digit', () => {
  for (let code = 0; code < 0x3000; code++) {
    const other = String.fromCharCode(code)
    if (other.toLowerCase() === digest[0]) continue
    expect(equalsDigest(digest, other + digest.slice(1))).toBe(false)
  }
})

it('refuses text that is not 64 digits long', () => {
  const zeros = '0'.repeat(64)
  expect(equalsDigest(zeros, zeros)).toBe(true)
  for (const other of ['', zeros.slice(1), `${zeros}0`]) {
    expect(equalsDigest(other, zeros)).toBe(false)
    expect(equalsDigest(zeros, other)).toBe(false)
    expect(equalsDigest(other, other)).toBe(false)
  }
})
