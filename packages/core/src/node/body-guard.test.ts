import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { PassThrough, Readable } from 'node:stream'
import { describe, expect, it, vi } from 'vitest'
import type { BodyLimits } from '../http/request.ts'
import { createTimeouts } from '../platform/node/timeouts.ts'
import { BodyGuard } from './body-guard.ts'
import { collectBody as withRawBody } from './collect-with-raw-body.ts'
import { collectBody as withoutRawBody } from './collect-without-raw-body.ts'

const LIMITS = { maxBytes: 1_048_576, timeoutMs: 10_000 }
const EVENTS = ['data', 'end', 'error', 'close', 'pause', 'readable']

function guard(stream: Readable, limits: Partial<BodyLimits> = {}): BodyGuard {
  const all = { ...LIMITS, ...limits }
  return new BodyGuard(stream as IncomingMessage, all, createTimeouts(all.timeoutMs))
}

function listenersOf(stream: Readable): readonly number[] {
  return EVENTS.map(event => stream.listenerCount(event))
}

/** Collects the pieces in which the guard passes on `stream`. */
async function piecesOf(stream: Readable): Promise<readonly Uint8Array[]> {
  const pieces: Uint8Array[] = []
  const body = guard(stream).on('data', piece => pieces.push(piece as Uint8Array))
  await new Promise(resolve => body.on('end', resolve))
  return pieces
}

describe('joining', () => {
  it('passes on a thousand small chunks as a few pieces of 16 KiB', async () => {
    const sent = Buffer.from(Array.from({ length: 40_000 }, (_, i) => i % 251))
    const pieces = await piecesOf(Readable.from(Array.from(sent, byte => Buffer.of(byte))))
    expect(pieces.map(({ length }) => length)).toEqual([16_384, 16_384, 7232])
    expect(Buffer.concat(pieces)).toEqual(sent)
  })

  it('does not copy a large chunk', async () => {
    const [first, second] = [Buffer.alloc(20_000, 1), Buffer.alloc(30_000, 2)]
    const pieces = await piecesOf(Readable.from([first, second]))
    expect(pieces[0]).toBe(first)
    expect(pieces[1]).toBe(second)
  })
})

describe.each([
  ['with raw-body', withRawBody],
  ['without raw-body', withoutRawBody],
])('a guarded body, collected %s', (_, collect) => {
  const read = (stream: Readable, limits: Partial<BodyLimits> = {}) =>
    collect(guard(stream, limits), { limit: limits.maxBytes ?? LIMITS.maxBytes, length: null })

  it.each([
    ['in one piece', [Buffer.from('one')], 'one'],
    ['in several', [Buffer.from('one'), Buffer.from('two')], 'onetwo'],
    ['empty', [], ''],
  ])('is there: %s', async (__, chunks, text) => {
    expect(String(Buffer.from((await read(Readable.from(chunks))) as Uint8Array))).toBe(text)
  })

  it.each([
    ['is silent', 'body_timeout', '0 bytes in 50 ms', () => {}],
    [
      'stalls',
      'body_timeout',
      '4 bytes in 50 ms',
      (stream: PassThrough) => {
        // Each chunk would keep a time limit between chunks from ever ending.
        stream.write('half')
      },
    ],
    [
      'closes',
      'body_aborted',
      'the connection closed after 0 bytes',
      (stream: PassThrough) => stream.destroy(),
    ],
    [
      'fails',
      'body_aborted',
      'the connection closed after 0 bytes',
      (stream: PassThrough) => stream.destroy(new Error('no')),
    ],
    [
      'emits strings',
      'body_unavailable',
      expect.stringContaining('a stream of strings'),
      (stream: PassThrough) => stream.setEncoding('utf8').write('text'),
    ],
    [
      'emits too much',
      'body_too_large',
      'over body.limit, 100 bytes',
      (stream: PassThrough) => stream.write(Buffer.alloc(101)),
    ],
  ] as const)('is refused when its stream %s', async (__, code, detail, happen) => {
    const stream = new PassThrough()
    const before = listenersOf(stream)
    const reading = read(stream, { maxBytes: 100, timeoutMs: 50 })
    happen(stream)
    expect(await reading).toMatchObject({ code, detail })
    stream.destroy(new Error('afterwards, which must not end the process'))
    await vi.waitFor(() => expect(stream.closed).toBe(true))
    const left = listenersOf(stream)
    expect(
      left
        .map((count, i) => count - (before[i] ?? 0))
        .filter((more, i) => EVENTS[i] !== 'error' && more !== 0),
    ).toEqual([])
    // A closed connection leaves nothing at all.
    if (code === 'body_aborted') expect(left).toEqual(before)
  })

  it('does nothing more to a stream that was read to its end', async () => {
    const stream = new PassThrough()
    const counted: unknown[] = []
    const bodies = {
      begin: () => {},
      arrived: (_: unknown, length: number) => counted.push(length),
      end: () => counted.push('end'),
    }
    const reading = read(stream, { reading: bodies as never })
    stream.end('sent')
    expect(String(Buffer.from((await reading) as Uint8Array))).toBe('sent')
    stream.pause()
    stream.destroy(new Error('afterwards, which must not end the process'))
    await vi.waitFor(() => expect(stream.closed).toBe(true))
    expect(counted).toEqual([4, 'end'])
  })

  it.each([
    ['flows', () => {}],
    ['somebody watches', (stream: Readable) => stream.on('readable', () => {})],
  ])('stops reading at the limit if the stream %s', async (__, before) => {
    let taken = 0
    const endless = new Readable({
      read() {
        taken++
        // Ends after a while, so that this test fails instead of hanging if nothing stops it.
        this.push(taken === 10_000 ? null : Buffer.alloc(1000))
      },
    })
    before(endless)
    expect(await read(endless, { maxBytes: 2000 })).toMatchObject({ code: 'body_too_large' })
    await new Promise(setImmediate)
    expect(taken).toBeLessThan(100)
  })

  it('is read even if somebody paused the stream', async () => {
    const stream = Readable.from([Buffer.from('sent')]).pause()
    await once(new PassThrough().end().resume(), 'close')
    expect(String(Buffer.from((await read(stream)) as Uint8Array))).toBe('sent')
  })
})
