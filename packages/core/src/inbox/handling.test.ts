import { expect, it } from 'vitest'
import type { Observation } from '../observe/observation.ts'
import { PauseLog, pausedType, sortedPauses } from './handling.ts'

it('tells each pause and its end once, with the command that ends it', () => {
  const lines: string[] = []
  const observed: Observation[] = []
  const line = (_: object, message: string): void => void lines.push(message)
  const logger = { info: line, warn: line, error: line }
  const log = new PauseLog({ logger, observe: one => void observed.push(one) })
  log.see([])
  log.see([{ type: 'a.b', since: 0 }])
  log.see([{ type: 'a.b', since: 0 }, { since: 1000 }])
  log.see([{ since: 1000 }])
  log.see([])
  log.see([{ type: 'a.b', since: 2000 }])
  expect(lines).toEqual([
    "Handling of 'a.b' events has been paused since 1970-01-01T00:00:00.000Z: they are accepted, and wait. 'ackhook inbox resume a.b' ends the pause.",
    "Handling of all events has been paused since 1970-01-01T00:00:01.000Z: they are accepted, and wait. 'ackhook inbox resume --all' ends the pause.",
    "Handling of 'a.b' events was resumed.",
    'Handling of events was resumed.',
    expect.stringContaining('1970-01-01T00:00:02.000Z'),
  ])
  expect(observed.map(one => one.kind === 'notice' && one.code)).toEqual([
    'handling_paused',
    'handling_paused',
    'handling_resumed',
    'handling_resumed',
    'handling_paused',
  ])
})

it('orders pauses: all first, then by type', () => {
  const all = { since: 3 }
  const [a, b] = [
    { type: 'a', since: 2 },
    { type: 'b', since: 1 },
  ]
  expect(sortedPauses([b, all, a])).toEqual([all, a, b])
})

it.each(['', 'a.*', 'a\0b', '\ud800x', 'x\udc00', 7, null])(
  'refuses to pause %j, which is not one exact type',
  type => {
    expect(() => pausedType(type)).toThrow("Option 'type': must be one exact type")
  },
)

it.each([undefined, 'a.b', 'größe 😀'])('lets %j be paused', type => {
  expect(pausedType(type)).toBe(type)
})
