import { expect, it } from 'vitest'
import { ByteCollector } from './byte-collector.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (taken: Uint8Array) => new TextDecoder().decode(taken)

it('returns nothing if nothing was added', () => {
  const collector = new ByteCollector()
  expect(collector.length).toBe(0)
  expect(collector.take()).toEqual(new Uint8Array(0))
})

it('returns a single chunk unchanged, without a copy', () => {
  const collector = new ByteCollector()
  const chunk = bytes('hello')
  collector.add(chunk)
  expect(collector.length).toBe(5)
  expect(collector.take()).toBe(chunk)
})

it('joins chunks in order, empty ones included', () => {
  const collector = new ByteCollector()
  for (const part of ['', 'ab', '', 'c', 'def', '']) collector.add(bytes(part))
  expect(collector.length).toBe(6)
  expect(text(collector.take())).toBe('abcdef')
})

it('keeps its bytes when its memory grows', () => {
  const collector = new ByteCollector()
  const parts = Array.from({ length: 3000 }, (_, i) => `${i},`)
  for (const part of parts) collector.add(bytes(part))
  expect(text(collector.take())).toBe(parts.join(''))
})

it('copies a chunk that is a window on a larger buffer', () => {
  const collector = new ByteCollector()
  const shared = bytes('abcdef')
  collector.add(shared.subarray(1, 3))
  collector.add(shared.subarray(4, 6))
  shared.fill(0)
  expect(text(collector.take()).slice(2)).toBe('ef')
})

it('holds many tiny chunks in one buffer, at most twice their size', () => {
  const collector = new ByteCollector()
  for (let i = 0; i < 100_000; i++) collector.add(new Uint8Array([i]))
  const taken = collector.take()
  expect(taken.length).toBe(100_000)
  // The next power of two. Memory that grew with each chunk would be copied 100,000 times.
  expect(taken.buffer.byteLength).toBe(131_072)
  expect(taken[99_999]).toBe(99_999 % 256)
})

it('starts anew once its bytes are taken', () => {
  const collector = new ByteCollector()
  for (const part of ['ab', 'cd']) collector.add(bytes(part))
  expect(text(collector.take())).toBe('abcd')
  expect(collector.length).toBe(0)
  collector.add(bytes('ef'))
  expect(text(collector.take())).toBe('ef')
})
