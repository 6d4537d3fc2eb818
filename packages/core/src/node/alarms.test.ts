import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createAlarms } from './alarms.ts'

const rung: string[] = []
const ring = (name: string) => () => void rung.push(name)

beforeEach(() => {
  vi.useFakeTimers()
  rung.length = 0
})
afterEach(() => {
  vi.useRealTimers()
})

it('ring one by one, each after its own time', () => {
  const alarms = createAlarms(1000)
  alarms.set(ring('a'))
  vi.advanceTimersByTime(400)
  alarms.set(ring('b'))
  alarms.set(ring('c'))
  vi.advanceTimersByTime(599)
  expect(rung).toEqual([])
  vi.advanceTimersByTime(1)
  expect(rung).toEqual(['a'])
  vi.advanceTimersByTime(399)
  expect(rung).toEqual(['a'])
  vi.advanceTimersByTime(1)
  expect(rung).toEqual(['a', 'b', 'c'])
  expect(vi.getTimerCount()).toBe(0)
})

it('ring although one before them threw', () => {
  const alarms = createAlarms(1000)
  alarms.set(() => {
    throw new Error('a ring that fails')
  })
  alarms.set(ring('b'))
  vi.advanceTimersByTime(1)
  alarms.set(ring('c'))
  expect(() => vi.advanceTimersByTime(999)).toThrow('a ring that fails')
  vi.advanceTimersByTime(1000)
  expect(rung).toEqual(['b', 'c'])
})

it.each([
  ['first', [1, 2]],
  ['one in the middle', [0, 2]],
  ['last', [0, 1]],
])('do not ring once cancelled: the %s', (_, left) => {
  const alarms = createAlarms(1000)
  const all = ['0', '1', '2'].map(name => alarms.set(ring(name)))
  const [gone] = [0, 1, 2].filter(index => !left.includes(index))
  all[gone as number]?.cancel()
  all[gone as number]?.cancel()
  vi.advanceTimersByTime(1000)
  expect(rung).toEqual(left.map(String))
})

it('ring in time although an earlier one, whose timer still runs, was cancelled', () => {
  const alarms = createAlarms(1000)
  alarms.set(ring('a')).cancel()
  vi.advanceTimersByTime(600)
  alarms.set(ring('b'))
  vi.advanceTimersByTime(999)
  expect(rung).toEqual([])
  vi.advanceTimersByTime(1)
  expect(rung).toEqual(['b'])
})

it('may set the next one while they ring', () => {
  const alarms = createAlarms(1000)
  alarms.set(() => alarms.set(ring('next')))
  vi.advanceTimersByTime(1999)
  expect(rung).toEqual([])
  vi.advanceTimersByTime(1)
  expect(rung).toEqual(['next'])
})

it('may be cancelled by one that rings before them', () => {
  const alarms = createAlarms(1000)
  const first = alarms.set(() => second.cancel())
  const second = alarms.set(ring('second'))
  vi.advanceTimersByTime(1000)
  first.cancel()
  expect(rung).toEqual([])
})

it('keep the process alive until they ring, and not once they are cancelled', () => {
  const built = new URL('../../dist/node/alarms.js', import.meta.url)
  const run = (code: string) =>
    execFileSync(
      process.execPath,
      ['--input-type=module', '-e', `import { createAlarms } from '${built}'; ${code}`],
      {
        cwd: fileURLToPath(new URL('.', import.meta.url)),
        encoding: 'utf8',
        timeout: 30_000,
      },
    )
  expect(run("createAlarms(50).set(() => console.log('rung'))")).toBe('rung\n')
  expect(run("createAlarms(3_600_000).set(() => console.log('rung')).cancel()")).toBe('')
  const again =
    "const alarms = createAlarms(50); alarms.set(() => {}).cancel(); alarms.set(() => console.log('again'))"
  expect(run(again)).toBe('again\n')
})
