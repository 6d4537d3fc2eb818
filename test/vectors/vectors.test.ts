import { createReceiver, type Observation } from '@ackhook/core'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { bodyOf } from './body-of.mjs'
import { outcomeOf, type Vector, type VectorFile, vectorFiles } from './vector-files.ts'

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
    for (const vector of file.vectors) it(vector.id, () => play(file, vector))
  })
}

it(`the signatures were made with the means of the platform (${platform})`, () => {
  if (platform === 'web') expect(subtleSign).toHaveBeenCalled()
  else expect(subtleSign).not.toHaveBeenCalled()
})

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
