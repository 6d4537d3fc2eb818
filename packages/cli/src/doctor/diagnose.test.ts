import { createHmac } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { sign, signedRequest } from '@ackhook/testing'
import { describe, expect, test } from 'vitest'
import type { CapturedRequest } from '../delivery/captured-request.ts'
import { type DiagnoseOptions, diagnose } from './diagnose.ts'

const SECRET = 'whsec_0123456789abcdef'
const OTHER = 'whsec_fedcba9876543210'
const NOW = Date.parse('2026-03-01T12:00:00Z')
const SECONDS = NOW / 1000
const EVENT = {
  id: 'evt_1',
  type: 'conversation.resolved',
  created_at: '2026-03-01T12:00:00Z',
  data: { conversation_id: 'cnv_1', channel: 'whatsapp', resolved_by: 'Zoë / ai', note: '<b>' },
}
const COMPACT = JSON.stringify(EVENT)
/** The same event as serialized by senders in other languages. */
const SPACED =
  '{"id": "evt_1", "type": "conversation.resolved", "created_at": "2026-03-01T12:00:00Z", "data": {"conversation_id": "cnv_1", "channel": "whatsapp", "resolved_by": "Zo\\u00eb / ai", "note": "<b>"}}'

const withData = (data: string): string =>
  `{"id":"evt_1","type":"a.b","created_at":"2026-03-01T12:00:00Z","data":${data}}`

interface Mishap {
  /** Signed body. */
  readonly signed?: string | Uint8Array
  /** Body on arrival. */
  readonly arrived?: string | Uint8Array
  readonly signedWith?: string | Buffer
  readonly timestamp?: string | number
  readonly headers?: CapturedRequest['headers']
  readonly method?: string
  readonly receivedAt?: number
}

function deliver(mishap: Mishap = {}): CapturedRequest {
  const signed = mishap.signed ?? COMPACT
  const timestamp = String(mishap.timestamp ?? SECONDS)
  // `sign` does not accept bytes as a secret.
  const digest = createHmac('sha256', mishap.signedWith ?? SECRET)
    .update(`${timestamp}.`)
    .update(signed)
  const value = `t=${timestamp},v1=${digest.digest('hex')}`
  const { body } = signedRequest(mishap.arrived ?? signed, { secret: SECRET })
  return {
    method: mishap.method ?? 'POST',
    url: '/webhooks',
    headers: mishap.headers ?? [
      ['Content-Type', 'application/json'],
      ['X-Service-Signature', value],
    ],
    body,
    receivedAt: mishap.receivedAt ?? NOW,
  }
}

const named = (value: string, source = 'SIGNING_SECRET') => ({ value, source })

async function causes(mishap: Mishap, options: Partial<DiagnoseOptions> = {}) {
  const { verified, findings } = await diagnose(deliver(mishap), { secrets: [named(SECRET)], ...options })
  expect(verified).toBe(false)
  expect(findings.length).toBeGreaterThan(0)
  for (const { text } of findings) {
    expect(text, 'is a sentence').toMatch(/^[A-Z].*[.)]$/s)
    expect(text, 'never holds a secret').not.toContain(SECRET)
    expect(text).not.toContain(OTHER)
  }
  return findings.map(finding => `${finding.cause}${finding.proven ? '' : '?'}`)
}

const header = (value: string): CapturedRequest['headers'] => [['x-service-signature', value]]
const good = sign(COMPACT, { secret: SECRET, timestamp: SECONDS })

test('a good delivery verifies at the time of its arrival, in every unit of t', async () => {
  for (const timestamp of [SECONDS, NOW, '2026-03-01T12:00:00Z']) {
    const diagnosis = await diagnose(deliver({ timestamp }), { secrets: [named(SECRET)] })
    expect(diagnosis).toEqual({ verified: true, code: 'accepted', findings: [] })
  }
})

describe('the body', () => {
  test.each<[string, Mishap, string]>([
    [
      'parsed by express.json and serialized by JSON.stringify',
      { signed: SPACED, arrived: COMPACT },
      'body-reserialized',
    ],
    ['pretty-printed on the way', { arrived: JSON.stringify(EVENT, null, 2) }, 'body-reserialized'],
    [
      'pretty-printed by the sender',
      { signed: JSON.stringify(EVENT, null, 2), arrived: COMPACT },
      'body-reserialized',
    ],
    [
      'escaped as PHP does',
      { signed: JSON.stringify(EVENT).replaceAll('/', '\\/').replace('ë', '\\u00eb'), arrived: COMPACT },
      'body-reserialized',
    ],
    [
      'escaped as Go does',
      { signed: COMPACT.replace('<b>', '\\u003cb\\u003e'), arrived: COMPACT },
      'body-reserialized',
    ],
    [
      'sorted by key on the way',
      {
        arrived: JSON.stringify({
          created_at: EVENT.created_at,
          data: { channel: 'whatsapp', conversation_id: 'cnv_1', resolved_by: 'Zoë / ai', note: '<b>' },
          id: EVENT.id,
          type: EVENT.type,
        }),
      },
      'body-reserialized',
    ],
    ...[
      // What JSON.parse and JSON.stringify lose, or a parser of another language adds.
      ['{"n":1.0}', '{"n":1}'],
      ['{"n":1e3}', '{"n":1000}'],
      ['{"n":1}', '{"n":1.0}'],
      ['{"n":1000}', '{"n":1e+3}'],
      ['{"a":1.0,"b":2,"c":3.50}', '{"a":1.0, "b":2, "c":3.50}'],
      ['{"a":7,"b":2.0,"c":[1,{"d":3}]}', '{"a":7,"b":2,"c":[1,{"d":3}]}'],
      ['{"n":12345678901234567890,"m":1.0}', '{ "n": 12345678901234567890, "m": 1.0 }'],
      ['{"10":"a","9":"b"}', '{"9":"b","10":"a"}'],
      ['{"z":"a","1":"b"}', '{"1":"b","z":"a"}'],
      ['{"2":"a","1":"b"}', '{"2": "a", "1": "b"}'],
      ['{"a":1,"a":2}', '{"a": 1, "a": 2}'],
    ].map(([signed = '', arrived = '']): [string, { signed: string; arrived: string }, string] => [
      `written as ${arrived} instead of ${signed}`,
      { signed: withData(signed), arrived: withData(arrived) },
      'body-reserialized',
    ]),
    ['with a newline at the end', { arrived: `${COMPACT}\n` }, 'body-end'],
    ['without its newline', { signed: `${COMPACT}\n`, arrived: COMPACT }, 'body-end'],
    ['without its Windows line end', { signed: `${COMPACT}\r\n`, arrived: COMPACT }, 'body-end'],
    ['with Windows line ends', { signed: 'not\njson\n', arrived: 'not\r\njson\r\n' }, 'body-line-ends'],
    ['with Unix line ends', { signed: 'not\r\njson\r\nx', arrived: 'not\njson\nx' }, 'body-line-ends'],
    ['with a byte order mark', { arrived: `\ufeff${COMPACT}` }, 'body-bom'],
    ['without its byte order mark', { signed: `\ufeff${COMPACT}`, arrived: COMPACT }, 'body-bom'],
    ['with white space around it', { arrived: ` ${COMPACT} ` }, 'body-white-space'],
    ['written as a JSON string', { arrived: JSON.stringify(COMPACT) }, 'body-wrapped'],
    ['in a form field', { arrived: `payload=${encodeURIComponent(COMPACT)}` }, 'body-wrapped'],
    ['in base64', { arrived: Buffer.from(COMPACT).toString('base64') }, 'body-wrapped'],
    [
      'read as Latin-1 and written as UTF-8',
      { arrived: Buffer.from(COMPACT).toString('latin1') },
      'body-charset',
    ],
    [
      'read as Windows-1252 and written as UTF-8',
      {
        signed: COMPACT.replace('ë', '€'),
        arrived: new TextDecoder('windows-1252').decode(Buffer.from(COMPACT.replace('ë', '€'))),
      },
      'body-charset',
    ],
    ['written as Latin-1', { arrived: Buffer.from(COMPACT, 'latin1') }, 'body-charset'],
    ['written as UTF-16', { arrived: Buffer.from(COMPACT, 'utf16le') }, 'body-charset'],
    ['compressed', { arrived: gzipSync(COMPACT) }, 'body-compressed'],
    ['empty', { arrived: '' }, 'body-empty?'],
    ['taken by a parser', { arrived: '{}' }, 'body-empty?'],
    [
      'with characters that were replaced',
      { signed: Buffer.from([0xff, 0xfe, 0x7b]), arrived: '\ufffd\ufffd{' },
      'body-replaced?',
    ],
    ['cut off, without a Content-Length', { arrived: COMPACT.slice(0, 90) }, 'body-truncated?'],
  ])('%s', async (_name, mishap, cause) => {
    expect(await causes(mishap)).toEqual([cause])
  })

  test('shorter and longer than its Content-Length', async () => {
    const headers = [
      ...header(good),
      ['Content-Length', String(COMPACT.length)],
    ] as CapturedRequest['headers']
    expect(await causes({ arrived: COMPACT.slice(0, 50), headers })).toEqual(['body-truncated'])
    expect(await causes({ arrived: COMPACT.replace('{', '{"more":"of it all",'), headers })).toEqual([
      'body-changed',
    ])
  })

  test('of a request with a Content-Encoding, if nothing else explains it', async () => {
    const headers = [...header(good), ['Content-Encoding', 'gzip']] as CapturedRequest['headers']
    expect(await causes({ arrived: 'something else', headers })).toEqual(['body-compressed?'])
  })

  test('that is signed but not an event', async () => {
    expect(await causes({ signed: 'hello' })).toEqual(['body-no-json'])
    expect(await causes({ signed: '{"event":1}' })).toEqual(['body-no-event'])
  })
})

describe('the secret', () => {
  const plain = 'c2VjcmV0LWZvci10aGUtdGVzdC1vZi1hY2tob29r'
  test.each<[string, string, string | Buffer, string]>([
    ['of a file, with its newline', `${SECRET}\n`, SECRET, 'secret-trailing-white-space'],
    ['with a Windows line end', `${SECRET}\r\n`, SECRET, 'secret-trailing-white-space'],
    ['with a literal \\n', `${SECRET}\\n`, SECRET, 'secret-trailing-white-space'],
    ['with white space around it', ` ${SECRET}\t `, SECRET, 'secret-white-space'],
    ['whose sender has a newline', SECRET, `${SECRET}\n`, 'secret-white-space-at-sender'],
    ['in quotes', `"${SECRET}"`, SECRET, 'secret-quoted'],
    ['with half a quote', `${SECRET}"`, SECRET, 'secret-quoted'],
    ['whose sender has quotes', SECRET, `'${SECRET}'`, 'secret-quoted-at-sender'],
    ['with its name', `SIGNING_SECRET=${SECRET}`, SECRET, 'secret-with-name'],
    ['that the sender decodes from base64', plain, Buffer.from(plain, 'base64'), 'secret-base64'],
    [
      'that the sender decodes from base64 behind a prefix',
      `whsec_${plain}`,
      Buffer.from(plain, 'base64'),
      'secret-base64',
    ],
    [
      'that the sender decodes from hexadecimal',
      'ab'.repeat(16),
      Buffer.from('ab'.repeat(16), 'hex'),
      'secret-hex',
    ],
    ['that the sender writes in hexadecimal', SECRET, Buffer.from(SECRET).toString('hex'), 'secret-hex'],
    ['that the sender writes in base64', SECRET, Buffer.from(SECRET).toString('base64'), 'secret-base64'],
    ['that the sender uses without its prefix', SECRET, SECRET.slice(6), 'secret-prefix'],
  ])('%s', async (_name, known, signedWith, cause) => {
    expect(await causes({ signedWith }, { secrets: [named(known)] })).toEqual([cause])
  })

  test('that is the other secret of a rotation, whose source is named but whose value is not shown', async () => {
    const secrets = [named(SECRET), named(OTHER, 'SIGNING_SECRET_2')]
    const { findings } = await diagnose(deliver({ signedWith: OTHER }), { secrets })
    expect(findings).toMatchObject([
      { cause: 'secret-other', proven: true, text: expect.stringContaining('SIGNING_SECRET_2') },
    ])
  })

  test('that is unknown', async () => {
    expect(await causes({ signedWith: OTHER })).toEqual(['secret-wrong?'])
    expect(await causes({ signedWith: OTHER, signed: SPACED })).toEqual(['unknown?'])
  })

  test('with a newline and a body that was serialized again: both are found', async () => {
    const secrets = [named(`${SECRET}\n`)]
    expect(await causes({ signed: SPACED, arrived: COMPACT }, { secrets })).toEqual([
      'secret-trailing-white-space',
      'body-reserialized',
    ])
  })
})

test('a body that a parser may have changed without a trace is not called unchanged', async () => {
  for (const [signed, arrived] of [
    ['{"n":12345678901234567890}', '{"n":12345678901234567000}'],
    ['{"n":1.10,"m":2.000}', '{"n":1.1,"m":2}'],
    ['{"3":1,"1":1,"2":1}', '{"1":1,"2":1,"3":1}'],
  ] as const) {
    const { findings } = await diagnose(deliver({ signed: withData(signed), arrived: withData(arrived) }), {
      secrets: [named(SECRET)],
    })
    expect(findings).toMatchObject([{ cause: 'secret-wrong', proven: false }])
    expect(findings[0]?.text).not.toContain('unchanged')
    expect(findings[0]?.text).toMatch(/writes numbers otherwise|sorts keys that are numbers/)
  }
  const { findings } = await diagnose(deliver({ signedWith: OTHER }), { secrets: [named(SECRET)] })
  expect(findings[0]?.text).toContain('the body looks unchanged')
})

describe('the time', () => {
  const minutes = (count: number) => ({ receivedAt: NOW + count * 60_000 })

  test('a clock that is off by minutes is reported with the minutes and the direction', async () => {
    for (const [off, expected] of [
      [7, '7 minutes ahead of'],
      [-9, '9 minutes behind'],
    ] as const) {
      const { findings } = await diagnose(deliver(minutes(off)), { secrets: [named(SECRET)] })
      expect(findings).toMatchObject([{ cause: 'clock-off', text: expect.stringContaining(expected) }])
    }
  })

  test('whole hours suggest a time zone', async () => {
    expect(await causes(minutes(120))).toEqual(['time-zone'])
    expect(await causes(minutes(-60))).toEqual(['time-zone'])
    expect(await causes(minutes(3 * 24 * 60))).toEqual(['clock-off'])
  })

  test('a custom tolerance applies', async () => {
    const options = { secrets: [named(SECRET)], tolerance: '10m' } as const
    expect((await diagnose(deliver(minutes(7)), options)).verified).toBe(true)
  })

  test('a unit that the receiver does not expect', async () => {
    const seconds = { contract: { timestampUnit: 'seconds' } } as const
    expect(await causes({ timestamp: NOW }, seconds)).toEqual(['timestamp-unit'])
    expect(await causes({}, { contract: { timestampUnit: 'milliseconds' } })).toEqual(['timestamp-unit'])
    expect(await causes({ timestamp: 'yesterday' })).toEqual(['timestamp-malformed'])
  })

  test.each([
    [
      'in a different unit from the header',
      sign(COMPACT, { secret: SECRET, timestamp: NOW }).replace(/t=\d+/, `t=${SECONDS}`),
      'timestamp-unit-signed',
    ],
  ])('signed %s', async (_name, value, cause) => {
    expect(await causes({ headers: header(value) })).toEqual([cause])
  })

  test('not signed, or signed without the dot', async () => {
    const { createHmac } = await import('node:crypto')
    const digest = (text: string) => createHmac('sha256', SECRET).update(text).digest('hex')
    const of = (text: string) => ({ headers: header(`t=${SECONDS},v1=${digest(text)}`) })
    expect(await causes(of(COMPACT))).toEqual(['timestamp-not-signed'])
    expect(await causes(of(`${SECONDS}${COMPACT}`))).toEqual(['timestamp-separator'])
    expect(await causes(of(`${SECONDS}:${COMPACT}`))).toEqual(['timestamp-separator'])
  })
})

describe('the header', () => {
  test.each<[string, CapturedRequest['headers'], string]>([
    ['that is missing', [['Content-Type', 'application/json']], 'header-missing'],
    ['with another name', [['X-Hub-Signature', good]], 'header-renamed'],
    ['that is present twice', [...header(good), ...header(good)], 'header-twice'],
    [
      'that is present twice, once with a wrong signature',
      [...header(good.replace(/.$/, 'g')), ...header(good)],
      'header-twice',
    ],
    ['that was joined from two', header(`${good}, ${good}`), 'header-twice'],
    ['that was cut off', header(good.slice(0, 50)), 'header-truncated'],
    ['in quotes', header(`"${good}"`), 'header-malformed'],
    ['with semicolons', header(good.replace(',', ';')), 'header-malformed'],
    ['with another label', header(good.replace('v1=', 'v2=')), 'header-malformed'],
    ['without t', header(good.replace(/t=\d+,/, '')), 'header-malformed'],
    [
      'with a digest in base64',
      header(`t=${SECONDS},v1=${Buffer.from(good.slice(-64), 'hex').toString('base64')}`),
      'header-malformed',
    ],
    ['that is something else', header('hello'), 'header-malformed'],
  ])('%s', async (_name, headers, cause) => {
    expect(await causes({ headers })).toEqual([cause])
  })

  test('names the valid one of two lines', async () => {
    const wrong = sign('{}', { secret: SECRET, timestamp: SECONDS })
    const { findings } = await diagnose(deliver({ headers: [...header(wrong), ...header(good)] }), {
      secrets: [named(SECRET)],
    })
    expect(findings[0]?.text).toContain('no. 2 is valid')
  })

  test('of a request other than POST', async () => {
    expect(await causes({ method: 'GET' })).toEqual(['method-not-post'])
  })
})
