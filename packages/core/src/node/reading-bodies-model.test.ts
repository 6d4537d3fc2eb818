import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { expect, it, vi } from 'vitest'
import { random } from '../../../../test/support/random.ts'
import { Refusal } from '../errors/refusal.ts'
import { readRequestBody } from '../fetch/read-request-body.ts'
import { type OpenBody, ReadingBodies, SMALL_BYTES } from '../http/reading-bodies.ts'
import type { BodyLimits } from '../http/request.ts'
import { createTimeouts } from '../platform/node/timeouts.ts'
import { BodyGuard } from './body-guard.ts'
import { collectBody as withRawBody } from './collect-with-raw-body.ts'
import { collectBody as withoutRawBody } from './collect-without-raw-body.ts'

const MIB = 1_048_576
/** Room for 16 small bodies, and for one MiB of large ones. */
const ROOM = { totalBytes: MIB, largest: MIB }
const upTo = (most: number) => Math.floor(random() * most)

/** Returns how many of `count` bodies of `length` bytes each are given up if they are read at one time. */
function givenUp(bodies: ReadingBodies, count: number, length: number): number {
  const refused = new Set<OpenBody>()
  const begun = Array.from({ length: count }, () => {
    const body: OpenBody = { place: undefined, giveUp: () => refused.add(body) }
    bodies.begin(body)
    bodies.arrived(body, length)
    return body
  })
  for (const body of begun) bodies.end(body)
  return refused.size
}

/** Expects that none of the bodies that were read is counted any more, and no byte of them. */
function expectEmpty(bodies: ReadingBodies, read: readonly OpenBody[]): void {
  // One that was begun last would be placed now.
  expect(givenUp(bodies, 1, 1)).toBe(0)
  expect(read.filter(({ place }) => place !== undefined)).toEqual([])
  expect([16, 17].map(count => givenUp(bodies, count, 1))).toEqual([0, 1])
  expect([8, 9].map(count => givenUp(bodies, count, MIB / 8))).toEqual([0, 1])
}

it('counts each body exactly while it is read, whatever bodies begin, bring, end and are given up', () => {
  for (let round = 0; round < 15; round++) {
    const bodies = new ReadingBodies(ROOM)
    const open = new Map<OpenBody, number>()
    const lengths = () => [...open.values()]
    const small = () => lengths().filter(length => length <= SMALL_BYTES).length
    const large = () => lengths().reduce((sum, length) => sum + (length > SMALL_BYTES ? length : 0), 0)
    let refused: OpenBody[] = []
    for (let step = 0; step < 200; step++) {
      refused = []
      const known = [...open.keys()]
      const one = random() < 0.6 ? known[upTo(known.length)] : undefined
      const before = small()
      if (one === undefined) {
        const body = begin()
        expect(refused, 'never the newest').not.toContain(body)
        expect(refused).toHaveLength(before === 16 ? 1 : 0)
      } else if (random() < 0.2) end(one)
      else bring(one, Math.min(MIB, (open.get(one) ?? 0) + upTo(random() < 0.5 ? 100 : 100_000)))
      expect(small()).toBeLessThanOrEqual(16)
      expect(large()).toBeLessThanOrEqual(MIB)
    }
    const rest = [...open.keys()]
    for (const body of rest) bodies.end(body)
    expectEmpty(bodies, rest)

    function begin(): OpenBody {
      const body: OpenBody = {
        place: undefined,
        giveUp() {
          refused.push(body)
          end(body)
        },
      }
      open.set(body, 0)
      bodies.begin(body)
      return body
    }
    function end(body: OpenBody): void {
      open.delete(body)
      bodies.end(body)
    }
    function bring(body: OpenBody, length: number): void {
      open.set(body, length)
      bodies.arrived(body, length)
    }
  }
})

type Read = (stream: PassThrough, limits: BodyLimits) => Promise<unknown>

const guarded =
  (collect: (body: BodyGuard) => Promise<unknown>): Read =>
  (stream, limits) =>
    collect(new BodyGuard(stream as unknown as IncomingMessage, limits, createTimeouts(limits.timeoutMs)))

function fetched(headers: Record<string, string>): Read {
  return (stream, limits) => {
    let isCanceled = false
    const body = new ReadableStream({
      start(controller) {
        stream.on('data', chunk => !isCanceled && controller.enqueue(new Uint8Array(chunk)))
        stream.on('end', () => !isCanceled && controller.close())
        stream.on('error', error => controller.error(error))
      },
      cancel() {
        isCanceled = true
      },
    })
    const init = { method: 'POST', headers, body, duplex: 'half' }
    return readRequestBody(new Request('http://a/', init as RequestInit), limits)
  }
}

it.each<[string, Read]>([
  ['raw-body', guarded(body => withRawBody(body, { limit: 200_000, length: null }))],
  ['streams without raw-body', guarded(withoutRawBody)],
  ['Fetch, with a declared length', fetched({ 'content-length': '65536' })],
  ['Fetch, without', fetched({})],
])(
  'no body stays counted, whether it ends, fails, stalls, is too large or is given up: %s',
  async (_, read) => {
    const reading = new ReadingBodies(ROOM)
    const begin = vi.spyOn(reading, 'begin')
    const limits = { maxBytes: 200_000, timeoutMs: 60, reading }
    async function run(chunks: number, fate: number): Promise<unknown> {
      const stream = new PassThrough()
      stream.on('error', () => {})
      const result = read(stream, limits)
      for (let i = 0; i < chunks; i++) {
        stream.write(Buffer.alloc(1 + upTo(80_000)))
        await new Promise(resolve => setTimeout(resolve, upTo(4)))
      }
      if (fate < 0.4) stream.end()
      else if (fate < 0.6) stream.destroy(new Error('reset'))
      return result
    }
    const results = await Promise.all(Array.from({ length: 150 }, () => run(upTo(4), random())))
    // Alone, so that nothing gives them up.
    results.push(await run(0, 0), await run(1, 1))
    const codes = new Set(results.map(result => (result instanceof Refusal ? result.code : 'read')))
    expect([...codes]).toEqual(expect.arrayContaining(['read', 'too_many_bodies', 'body_timeout']))
    const bodies = begin.mock.calls.map(([body]) => body)
    expect(bodies.length).toBe(152)
    expectEmpty(reading, bodies)
  },
)
