import { afterEach, expect, it, vi } from 'vitest'
import { random } from '../../../../test/support/random.ts'
import { ByteCollector } from './byte-collector.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (taken: Uint8Array) => new TextDecoder().decode(taken)

afterEach(() => {
  vi.unstubAllGlobals()
})

/** Returns the lengths of all memory that is allocated from now on. */
function watchAllocations(): readonly number[] {
  const lengths: number[] = []
  const Original = Uint8Array
  class Watched extends Original {
    static get [Symbol.species]() {
      return Original
    }

    constructor(length: number) {
      super(length)
      lengths.push(length)
    }
  }
  vi.stubGlobal('Uint8Array', Watched)
  return lengths
}

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

it('holds many tiny chunks in few buffers, at most twice their size', () => {
  const chunk = Buffer.from('x')
  const allocated = watchAllocations()
  const collector = new ByteCollector()
  for (let i = 0; i < 100_000; i++) collector.add(chunk)
  expect(allocated).toEqual([4096, 8192, 16_384, 32_768, 65_536, 4096, 8192, 16_384, 32_768, 65_536])
  expect(collector.take().buffer.byteLength).toBe(100_000)
})

it('copies large chunks once, when they are joined', () => {
  const chunk = Buffer.alloc(65_536, 'x')
  const allocated = watchAllocations()
  const collector = new ByteCollector()
  for (let i = 0; i < 16; i++) collector.add(chunk)
  expect(collector.take().length).toBe(1_048_576)
  expect(allocated).toEqual([1_048_576])
})

it('keeps the order of chunks of any sizes', () => {
  for (let round = 0; round < 50; round++) {
    const collector = new ByteCollector()
    const parts = Array.from({ length: 1 + random() * 40 }, () => {
      const most = [3, 5000, 16_384, 40_000][Math.floor(random() * 4)] as number
      return Buffer.alloc(Math.floor(random() * (most + 1)), Math.floor(random() * 256))
    })
    for (const part of parts) collector.add(part)
    expect(Buffer.concat(parts).equals(collector.take())).toBe(true)
    expect(collector.length).toBe(0)
  }
})

it('starts anew once its bytes are taken', () => {
  const collector = new ByteCollector()
  for (const part of ['ab', 'cd']) collector.add(bytes(part))
  expect(text(collector.take())).toBe('abcd')
  expect(collector.length).toBe(0)
  collector.add(bytes('ef'))
  expect(text(collector.take())).toBe('ef')
})
