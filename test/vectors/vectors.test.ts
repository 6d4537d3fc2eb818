import { createReceiver, type Observation, verifyRequest } from '@ackhook/core'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { bodyOf } from './body-of.mjs'
import { outcomeOf, type Vector, type VectorFile, type VectorRequest, vectorFiles } from './vector-files.ts'

const ids = vectorFiles.flatMap(file => file.vectors.map(vector => vector.id))

it('every vector has a unique id', () => {
  expect(new Set(ids).size).toBe(ids.length)
})

const platform = inject('platform')
const subtleSign = vi.spyOn(crypto.subtle, 'sign')
const faults: unknown[] = []
const note = (fault: unknown) => void faults.push(fault)

beforeAll(() => {
  process.on('unhandledRejection', note)
})

afterAll(() => {
  process.off('unhandledRejection', note)
})

for (const file of vectorFiles) {
  describe(`${file.about} (${platform})`, () => {
    for (const vector of file.vectors) {
      it(vector.id, () => play(file, vector))
      it(`${vector.id}, by verifyRequest alone`, () => playAlone(file, vector))
    }
  })
}

it(`the signatures were made with the means of the platform (${platform})`, () => {
  if (platform === 'web') expect(subtleSign).toHaveBeenCalled()
  else expect(subtleSign).not.toHaveBeenCalled()
})

/** What a receiver refuses before or after what `verifyRequest` checks, or by options that it lacks. */
const BEYOND =
  /^(?:method|content_encoding|body_too_large|too_many|capacity|in_flight|draining|event_invalid)/

async function playAlone({ secret, now }: VectorFile, { options, requests }: Vector): Promise<void> {
  const { tolerance, contract, events, body: bounds } = options ?? {}
  for (const request of requests) {
    if (BEYOND.test(request.reason) || events !== undefined || bounds !== undefined) continue
    const headers = new Headers(request.headers)
    const body = bodyOf(request as VectorRequest)
    const { event, reason } = await verifyRequest({
      headers,
      body,
      secret: options?.secret === undefined ? secret : (options.secret as string),
      tolerance,
      contract,
      clock: () => now,
    })
    expect(event === undefined ? reason : 'genuine').toBe(request.status < 300 ? 'genuine' : request.reason)
  }
}

async function play(file: VectorFile, { options, requests }: Vector): Promise<void> {
  const seen: Observation[] = []
  const handled: string[] = []
  const quiet = { info() {}, warn() {}, error() {} }
  const receiver = createReceiver({
    secret: file.secret,
    clock: () => file.now,
    logger: quiet,
    observe: observation => seen.push(observation),
    ...options,
  })
  receiver.on('*', event => handled.push(event.id))
  for (const request of requests) {
    seen.length = 0
    const reply = await receiver.handle({
      method: request.method,
      headers: new Headers(request.headers),
      body: bodyOf(request),
      context: undefined,
    })
    expect({ ...outcomeOf(seen), status: reply.status, code: JSON.parse(reply.body).code }).toEqual({
      status: request.status,
      code: request.code,
      reason: request.reason,
      ...(request.conflict && { conflict: true }),
    })
    expect(reply.headers['allow']).toBe(reply.status === 405 ? 'POST' : undefined)
  }
  await receiver.close()
  expect(handled).toHaveLength(requests.filter(request => request.reason === 'accepted').length)
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  expect(faults).toEqual([])
}
