import type { IncomingMessage } from 'node:http'
import type { BodyLimits } from '@ackhook/core'
import { Refusal } from '@ackhook/core/spi'
import type { Mutants } from '../mutant.ts'
import { adapterMutant } from './adapter-mutant.ts'
import { type Body, SmallAdapter } from './small-adapter.ts'

type Change = (body: Buffer, request: IncomingMessage) => Uint8Array

/** Creates an adapter that changes the bytes it has read. */
function changing(change: Change): typeof SmallAdapter {
  return class extends SmallAdapter {
    protected override async read(request: IncomingMessage, limits: BodyLimits): Promise<Body> {
      const body = await super.read(request, limits)
      return body instanceof Refusal ? body : change(Buffer.from(body), request)
    }
  }
}

/** Creates an adapter that changes its limits. */
function limited(change: (limits: BodyLimits) => BodyLimits): typeof SmallAdapter {
  return class extends SmallAdapter {
    protected override read(request: IncomingMessage, limits: BodyLimits): Promise<Body> {
      return super.read(request, change(limits))
    }
  }
}

/** Creates an adapter that replaces a refusal with another one, or with bytes. */
function refusing(code: Refusal['code'], instead: () => Body): typeof SmallAdapter {
  return class extends SmallAdapter {
    protected override async read(request: IncomingMessage, limits: BodyLimits): Promise<Body> {
      const body = await super.read(request, limits)
      return body instanceof Refusal && body.code === code ? instead() : body
    }
  }
}

const text = (change: (text: string) => string) => changing(body => Buffer.from(change(body.toString())))

const CHANGES = [
  ['decodes', 'reads the body as text', 'adapter.bytes.invalid-utf8', text(String)],
  ['no-bom', 'drops a byte order mark', 'adapter.bytes.bom', text(body => body.replace(/^\ufeff/, ''))],
  ['trims', 'trims the body', 'adapter.bytes.white-space', text(body => body.trim())],
  ['trims-end', 'drops the last newline', 'adapter.bytes.trailing-newline', text(b => b.replace(/\n$/, ''))],
  [
    'latin1',
    'reads the body as latin1',
    'adapter.bytes.composed',
    changing(b => Buffer.from(b.toString('latin1'))),
  ],
  [
    'ascii',
    'reads the body as ASCII',
    'adapter.bytes.composed',
    changing(b => Buffer.from(b.toString('ascii'))),
  ],
  ['crlf', 'writes CRLF as LF', 'adapter.bytes.crlf', text(body => body.replaceAll('\r\n', '\n'))],
  ['nfc', 'composes accents', 'adapter.bytes.decomposed', text(body => body.normalize('NFC'))],
  ['nfd', 'decomposes accents', 'adapter.bytes.composed', text(body => body.normalize('NFD'))],
  [
    'reprints',
    'parses and prints JSON',
    'adapter.bytes.float',
    text(body => JSON.stringify(JSON.parse(body))),
  ],
  ['form', 'decodes a form', 'adapter.bytes.form-like', text(body => body.replaceAll('+', ' '))],
  [
    'nul-ends',
    'truncates the body at a NUL',
    'adapter.bytes.raw-nul',
    text(body => body.split('\0')[0] as string),
  ],
  ['solidus', 'unescapes a solidus', 'adapter.bytes.solidus', text(b => b.replaceAll('\\/', '/'))],
  ['empty', 'treats an empty body as {}', 'adapter.bytes.empty', text(body => body || '{}')],
  ['cut', 'cuts the body at 16 KiB', 'adapter.bytes.split', changing(body => body.subarray(0, 16_384))],
] as const

const small = (maxBytes: number) => limited(limits => ({ ...limits, maxBytes }))

const LIMITS = [
  ['hard-limit', 'has its own, higher limit', 'adapter.mounted.limit', small(1_000_000)],
  ['low-limit', 'has its own, lower limit', 'adapter.limit.exact', small(10_000)],
  [
    'off-by-one',
    'refuses a body at the limit',
    'adapter.limit.exact-chunked',
    limited(l => ({ ...l, maxBytes: l.maxBytes - 1 })),
  ],
  [
    'one-more',
    'accepts a byte over the limit',
    'adapter.limit.chunked',
    limited(l => ({ ...l, maxBytes: l.maxBytes + 1 })),
  ],
  [
    'no-timeout',
    'waits for a body for an hour',
    'adapter.limit.slow-body',
    limited(l => ({ ...l, timeoutMs: 3_600_000 })),
  ],
] as const

const never = () => new Promise<never>(() => {}) as unknown as Body
const refusal = (code: Refusal['code']) => () => new Refusal(code)

const REFUSALS = [
  [
    'abort-too-large',
    'treats an abort as too large',
    'adapter.mounted.abort',
    refusing('body_aborted', refusal('body_too_large')),
  ],
  ['abort-hangs', 'hangs on an abort', 'adapter.mounted.abort', refusing('body_aborted', never)],
  [
    'abort-empty',
    'treats an abort as an empty body',
    'adapter.mounted.abort',
    refusing('body_aborted', () => Buffer.alloc(0)),
  ],
  [
    'late-too-large',
    'treats a timeout as too large',
    'adapter.limit.slow-body',
    refusing('body_timeout', refusal('body_too_large')),
  ],
  [
    'large-cut',
    'treats a body that is too large as empty',
    'adapter.limit.chunked',
    refusing('body_too_large', () => Buffer.alloc(0)),
  ],
  [
    'parsed-empty',
    'treats a consumed body as empty',
    'adapter.parsed.body',
    refusing('body_unavailable', () => Buffer.alloc(0)),
  ],
  ['parsed-hangs', 'waits for a consumed body', 'adapter.parsed.body', refusing('body_unavailable', never)],
] as const

/** Adapters that read the body incorrectly. */
export const mutants: Mutants = [...CHANGES, ...LIMITS, ...REFUSALS].map(([name, wrong, caughtBy, Adapter]) =>
  adapterMutant(name, { wrong, caughtBy }, Adapter),
)
