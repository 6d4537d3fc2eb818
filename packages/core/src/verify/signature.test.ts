import { createHash, createHmac } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { createMac as createNodeMac } from '../platform/node/hmac.ts'
import type { Mac } from '../platform/platform.ts'
import { createMac as createWebMac } from '../platform/web/hmac.ts'
import { equalsDigest, verifySignature } from './signature.ts'
import { parseSignatureHeader, type SignatureHeader } from './signature-header.ts'

const body = new TextEncoder().encode('{"id":"evt_1"}')
const OLD = 'an old secret of some bytes'
const NEW = 'a new secret of some bytes'
const hex = (secret: string, t = '1') =>
  createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')
const header = (...signatures: string[]) => parse(['t=1', ...signatures.map(one => `v1=${one}`)].join())
const parse = (text: string) => parseSignatureHeader(text, 'v1') as SignatureHeader

describe.each([
  ['node', createNodeMac],
  ['web', createWebMac],
])('verifying on %s', (_, createMac) => {
  const secrets = (...texts: string[]) => texts.map(createMac)

  it('accepts the HMAC of t, a dot and the bytes', async () => {
    expect(await verifySignature(header(hex(OLD)), body, secrets(OLD))).toBe(true)
  })

  it('refuses another secret, another t, other bytes', async () => {
    expect(await verifySignature(header(hex(NEW)), body, secrets(OLD))).toBe(false)
    expect(await verifySignature(header(hex(OLD, '2')), body, secrets(OLD))).toBe(false)
    expect(await verifySignature(header(hex(OLD)), body.subarray(1), secrets(OLD))).toBe(false)
    expect(await verifySignature(header(hex(OLD)), new Uint8Array(0), secrets(OLD))).toBe(false)
  })

  it('accepts any of the signatures, wherever it stands', async () => {
    for (const good of [0, 1, 2]) {
      const signatures = [0, 1, 2].map(i => (i === good ? hex(OLD) : hex('nobody knows this one')))
      expect(await verifySignature(header(...signatures), body, secrets(OLD))).toBe(true)
    }
  })

  it('accepts under any of the secrets, wherever it stands', async () => {
    expect(await verifySignature(header(hex(OLD)), body, secrets(OLD, NEW, 'x'))).toBe(true)
    expect(await verifySignature(header(hex(NEW)), body, secrets(OLD, NEW, 'x'))).toBe(true)
    expect(await verifySignature(header(hex('x')), body, secrets(OLD, NEW, 'x'))).toBe(true)
    expect(await verifySignature(header(hex('y')), body, secrets(OLD, NEW, 'x'))).toBe(false)
  })

  it('finds a signature at the end of the longest header', async () => {
    const longest = parse(`t=1,x=${'x'.repeat(4096 - 6 - 4 - 64)},v1=${hex(OLD)}`)
    expect(longest.text).toHaveLength(4096)
    expect(await verifySignature(longest, body, secrets(OLD))).toBe(true)
  })

  it.each(['é', '€', '\u{1f600}', '\ud800', 'é'.repeat(2000)])(
    'finds a signature beside %j, before which characters and bytes stand in other places',
    async other => {
      for (const value of [`t=1,x=${other},v1=${hex(OLD)}`, `t=1,v1=${hex(OLD)},x=${other}`]) {
        expect(await verifySignature(parse(value), body, secrets(OLD))).toBe(true)
        expect(await verifySignature(parse(value), body, secrets(NEW))).toBe(false)
      }
    },
  )

  it('compares what stands behind the scheme, whatever its bytes push there', async () => {
    const filled = (value: string) => parse(value.padEnd(4096, 'a'))
    const elsewhere = `t=1,y=${'é'.repeat(68)},z=${hex(OLD)},v1=${'q'.repeat(64)},p=`
    expect(await verifySignature(filled(elsewhere), body, secrets(OLD))).toBe(false)
    expect(await verifySignature(parse(elsewhere), body, secrets(OLD))).toBe(false)
    expect(await verifySignature(filled(`t=1,v1=${hex(OLD)},é=`), body, secrets(OLD))).toBe(true)
    expect(await verifySignature(parse(`t=1,v1=${'é'.repeat(64)}`), body, secrets(OLD))).toBe(false)
  })

  it('is not misled by the header of a request that comes in between', async () => {
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
  const digestOf = (secret: string) => Buffer.from(hex(secret), 'hex').toString('latin1')

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

  it('waits for nothing where the HMAC is synchronous', () => {
    expect(verifySignature(header(hex(OLD)), body, [createNodeMac(OLD)])).toBe(true)
  })

  it('takes secrets of both kinds in one list', async () => {
    const macs = [createNodeMac(OLD), createWebMac(NEW), createNodeMac('third secret')]
    expect(await verifySignature(header(hex('third secret')), body, macs)).toBe(true)
    expect(await verifySignature(header(hex(NEW)), body, macs)).toBe(true)
    expect(await verifySignature(header(wrong), body, macs)).toBe(false)
  })
})

const sha = (text: string) => createHash('sha256').update(text)
const digest = sha('a').digest('binary')
const spelled = sha('a').digest('hex')
const equals = (bytes: string, text: string, at = 0) => equalsDigest(bytes, Buffer.from(text, 'latin1'), at)

it('finds equal what spells the same bytes, in either case', () => {
  expect(equals(digest, spelled)).toBe(true)
  expect(equals(digest, spelled.toUpperCase())).toBe(true)
})

it('reads 64 digits, wherever they begin', () => {
  expect(equals(digest, `v1=${spelled}0`, 3)).toBe(true)
  expect(equals(digest, `v1=${spelled}0`, 2)).toBe(false)
  expect(equals(digest, `v1=${spelled}0`, 4)).toBe(false)
})

it('knows every value of a byte', () => {
  for (let value = 0; value < 256; value++) {
    const bytes = Buffer.alloc(32, value)
    expect(equals(bytes.toString('latin1'), bytes.toString('hex'))).toBe(true)
    expect(equals(bytes.toString('latin1'), Buffer.alloc(32, value ^ 1).toString('hex'))).toBe(false)
  }
})

it('sees one changed digit wherever it stands', () => {
  for (let i = 0; i < 64; i++) {
    for (const bit of [1, 2, 4, 8]) {
      const digit = (Number.parseInt(spelled[i] as string, 16) ^ bit).toString(16)
      expect(equals(digest, spelled.slice(0, i) + digit + spelled.slice(i + 1))).toBe(false)
    }
  }
})

it('takes nothing else for a digit, whatever the byte it would stand for', () => {
  const others = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).filter(
    character => !/[0-9a-fA-F]/.test(character),
  )
  expect(others).toHaveLength(234)
  for (let value = 0; value < 256; value++) {
    const bytes = Buffer.alloc(32, value)
    const digits = bytes.toString('hex')
    const taken = others.filter(
      other =>
        equals(bytes.toString('latin1'), other + digits.slice(1)) ||
        equals(bytes.toString('latin1'), digits.slice(0, -1) + other),
    )
    expect(taken).toEqual([])
  }
})

it('refuses a digest that is not 32 bytes long', () => {
  const zeros = '0'.repeat(64)
  expect(equals('\0'.repeat(32), zeros)).toBe(true)
  expect(equals('\0'.repeat(31), zeros)).toBe(false)
  expect(equals('\0'.repeat(33), zeros)).toBe(false)
  expect(equals('', zeros)).toBe(false)
})
