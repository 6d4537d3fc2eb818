import { createHash, createHmac } from 'node:crypto'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { platform as node } from './node/platform.ts'
import { WORKERS } from './platform.ts'
import { platform as web } from './web/platform.ts'

const SIZES = [0, 1, 55, 56, 63, 64, 65, 300, 8191, 8192, 8193, 20_000]
const SECRETS = [
  '16 bytes exactly',
  'x'.repeat(63),
  'x'.repeat(64),
  'x'.repeat(65),
  'x'.repeat(200),
  'sécret with é and 😀',
]
const TIMESTAMPS = ['1767225600', '1767225600123', '2026-01-01T00:00:00.123456789+00:00']
const bytes = (size: number) => Uint8Array.from({ length: size }, (_, i) => (i * 31 + size) % 256)

describe.each([
  ['node', node],
  ['web', web],
])('the platform of %s', (_, platform) => {
  it('fires a timeout in time, unless it was cancelled', () => {
    vi.useFakeTimers()
    const timeouts = platform.createTimeouts(1000)
    const [late, never] = [vi.fn(), vi.fn()]
    timeouts.set(never).cancel()
    timeouts.set(late)
    vi.advanceTimersByTime(999)
    expect([timeouts.ms, late.mock.calls.length]).toEqual([1000, 0])
    vi.advanceTimersByTime(1000)
    expect([late.mock.calls.length, never.mock.calls.length]).toEqual([1, 0])
    vi.useRealTimers()
  })

  it.each(SIZES)('signs %d bytes as createHmac does', async size => {
    const body = bytes(size)
    for (const secret of SECRETS) {
      const mac = platform.hmac(secret)
      for (const timestamp of TIMESTAMPS) {
        const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')
        expect(await mac(timestamp, body)).toBe(expected)
        expect(await mac(timestamp, body)).toBe(expected)
      }
    }
  })

  it('signs a timestamp longer than any accepted one', async () => {
    for (const length of [63, 64, 65, 4000]) {
      const timestamp = '1'.repeat(length)
      const expected = createHmac('sha256', SECRETS[0] as string)
        .update(`${timestamp}.`)
        .update(bytes(9))
      expect(await platform.hmac(SECRETS[0] as string)(timestamp, bytes(9))).toBe(expected.digest('hex'))
    }
  })

  it('signs with several secrets in turn, independently of each other', async () => {
    const macs = SECRETS.map(platform.hmac)
    const digests = await Promise.all(SIZES.flatMap(size => macs.map(mac => mac('1', bytes(size)))))
    const expected = SIZES.flatMap(size =>
      SECRETS.map(secret => createHmac('sha256', secret).update('1.').update(bytes(size)).digest('hex')),
    )
    expect(digests).toEqual(expected)
  })

  it.each(['', 'a', 'evt_1', 'é', 'e\u0301', '😀', 'x'.repeat(1000), '4:wsp1evt_1'])(
    'hashes %j as SHA-256 does',
    async text => {
      const expected = createHash('sha256')
        .update(text, 'utf8')
        .digest()
        .subarray(0, 16)
        .toString('base64url')
      const hash = await platform.hashText(text)
      expect(hash).toBe(expected)
      expect(hash).toMatch(/^[A-Za-z0-9_-]{22}$/)
    },
  )

  it.each([
    [[], ''],
    [[0x61, 0xc3, 0xa9], 'aé'],
    [[0xef, 0xbb, 0xbf, 0x61], 'a'],
    [[0xef, 0xbb, 0xbf], ''],
    [[0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf, 0x61], '\ufeffa'],
    [[0x61, 0xef, 0xbb, 0xbf], 'a\ufeff'],
    [[0xef, 0xbb], '\ufffd'],
    [[0xef, 0xbb, 0x61], '\ufffda'],
    [[0xef, 0xbc, 0xbf], '＿'],
    [[0xff, 0xfe], '\ufffd\ufffd'],
    [[0xc0, 0xaf], '\ufffd\ufffd'],
    [[0xed, 0xa0, 0x80], '\ufffd\ufffd\ufffd'],
    [[0xf0, 0x9f, 0x98, 0x80], '😀'],
    [[0xf0, 0x9f, 0x98], '\ufffd'],
    [[0x61, 0, 0x62], 'a\0b'],
  ])('decodes %j', (codes, text) => {
    expect(platform.decodeText(Uint8Array.from(codes))).toBe(text)
  })

  it('decodes a window on a larger buffer', () => {
    const larger = Uint8Array.from([0x7a, 0xef, 0xbb, 0xbf, 0x61, 0x7a])
    const window = larger.subarray(1, 5)
    expect(platform.decodeText(window)).toBe('a')
  })

  it('has a default logger with every level', () => {
    vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    for (const level of ['warn', 'error'] as const) vi.spyOn(console, level).mockImplementation(() => {})
    for (const level of ['info', 'warn', 'error'] as const) platform.defaultLogger[level]({}, 'text')
    vi.restoreAllMocks()
  })
})

describe('the process warnings of Node', () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it('carry the code and the stack or other thrown value, for warnings and errors only', () => {
    const emit = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const err = new Error('down')
    node.defaultLogger.info({}, 'not shown')
    node.defaultLogger.warn({ code: 'store_down' }, 'slow')
    node.defaultLogger.error({ code: 7, err }, 'broken')
    for (const thrown of ['text', undefined, { private: 1 }]) node.defaultLogger.error({ err: thrown }, 'odd')
    delete err.stack
    node.defaultLogger.error({ err }, 'no stack')
    expect(emit.mock.calls).toEqual([
      ['slow', { type: 'AckhookWarning', code: 'store_down' }],
      ['broken', { type: 'AckhookWarning', detail: expect.stringContaining('platform.test.ts') }],
      ['odd', { type: 'AckhookWarning', detail: 'Thrown, but not an Error: text' }],
      ['odd', { type: 'AckhookWarning', detail: 'Thrown, but not an Error: undefined' }],
      ['odd', { type: 'AckhookWarning', detail: 'Thrown, but not an Error: [object Object]' }],
      ['no stack', { type: 'AckhookWarning', detail: 'Error: down' }],
    ])
  })
})

describe('the console', () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it.each([
    ['without process warnings (Workers)', web, () => {}],
    ['with process warnings off', node, () => vi.spyOn(process, 'listenerCount').mockReturnValue(0)],
    [
      'without process.emitWarning',
      node,
      () => vi.spyOn(process as { emitWarning?: unknown }, 'emitWarning', 'get').mockReturnValue(undefined),
    ],
  ])('gets warnings and errors %s', (_, platform, prepare) => {
    const lines: unknown[] = []
    vi.spyOn(console, 'warn').mockImplementation((...line) => lines.push(['warn', ...line]))
    vi.spyOn(console, 'error').mockImplementation((...line) => lines.push(['error', ...line]))
    const err = Object.assign(new Error('down'), { payload: 'private' })
    err.stack = 'Error: down\u001b[2J\n    at here'
    prepare()
    platform.defaultLogger.info({}, 'not shown')
    platform.defaultLogger.warn({ code: 'store_down', err: 'text' }, 'slow')
    platform.defaultLogger.error({ err }, 'broken')
    expect(lines).toEqual([
      ['warn', '[store_down] AckhookWarning: slow\nThrown, but not an Error: text'],
      ['error', 'AckhookWarning: broken\nError: down\\u001b[2J\n    at here'],
    ])
  })
})

it('runs work after the replies as a plain function, as Workers require', async () => {
  const real = globalThis.queueMicrotask
  vi.stubGlobal('queueMicrotask', function (this: unknown, work: () => void) {
    if (this !== undefined && this !== globalThis) throw new TypeError('Illegal invocation')
    real(work)
  })
  const work = vi.fn()
  web.afterReplies(work)
  node.afterReplies(work)
  await vi.waitFor(() => expect(work).toHaveBeenCalledTimes(2))
  vi.unstubAllGlobals()
})

it('recognizes Workers, where the files for Node refuse to load', async () => {
  vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' })
  onTestFinished(() => void vi.unstubAllGlobals())
  expect(web.freezingHost()).toBe(WORKERS)
  // Another module than the one that other tests import, which must not have failed.
  const evaluatedAgain = './node/platform.ts?on-workers'
  await expect(import(evaluatedAgain)).rejects.toThrow(/parts for Node.*with the condition 'workerd'/)
})

it("recognizes Vercel's edge runtime", () => {
  vi.stubGlobal('EdgeRuntime', 'edge-runtime')
  onTestFinished(() => void vi.unstubAllGlobals())
  expect(web.freezingHost()).toBe('Vercel')
})
