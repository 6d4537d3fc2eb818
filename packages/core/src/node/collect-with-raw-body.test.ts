import { PassThrough, Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { Refusal } from '../errors/refusal.ts'
import { collectBody } from './collect-with-raw-body.ts'

const OPTIONS = { limit: 100, length: null }
const ended = (...chunks: readonly Uint8Array[]) => Readable.from(chunks)
const destroyed = () => new PassThrough().destroy()
const aborted = () => {
  const stream = new PassThrough()
  setImmediate(() => stream.emit('aborted'))
  return stream
}

it.each([
  ['entity.too.large', 'body_too_large', () => ended(Buffer.alloc(101)), OPTIONS],
  ['entity.too.large', 'body_too_large', () => new PassThrough(), { ...OPTIONS, length: 101 }],
  ['request.size.invalid', 'body_aborted', () => ended(Buffer.alloc(10)), { ...OPTIONS, length: 11 }],
  ['request.aborted', 'body_aborted', aborted, OPTIONS],
  ['stream.encoding.set', 'body_unavailable', () => ended(Buffer.alloc(1)).setEncoding('utf8'), OPTIONS],
  ['stream.not.readable', 'body_unavailable', destroyed, OPTIONS],
] as const)("turns raw-body's error %s into %s", async (type, code, streamOf, options) => {
  const refusal = await collectBody(streamOf(), options)
  expect(refusal).toBeInstanceOf(Refusal)
  expect(refusal).toMatchObject({ code, cause: { type } })
})

it('treats any other error as an unavailable body', async () => {
  const cause = new Error('of the stream')
  const broken = new PassThrough().on('close', () => {})
  setImmediate(() => broken.destroy(cause))
  const refusal = await collectBody(broken, OPTIONS)
  expect(refusal).toMatchObject({ code: 'body_unavailable', detail: 'of the stream', cause })
})
