import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Refusal } from '../errors/refusal.ts'
import { type OpenBody, ReadingBodies } from './reading-bodies.ts'

const KIB = 1024
const MIB = 1024 * KIB

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** Bodies that are given up, in that order. */
function reading(totalBytes = 64 * MIB, largest = MIB) {
  const bodies = new ReadingBodies({ totalBytes, largest })
  const givenUp: string[] = []
  const details: string[] = []
  return {
    bodies,
    givenUp,
    details,
    begin(name: string): OpenBody {
      const body: OpenBody = {
        place: undefined,
        giveUp(refusal: Refusal) {
          givenUp.push(name)
          details.push(String(refusal.detail))
          bodies.end(body)
        },
      }
      bodies.begin(body)
      return body
    },
  }
}

const names = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `${from + i}`)

describe('small bodies', () => {
  it('are read up to a thousand at a time; beyond, the oldest is given up and never the newest', () => {
    const { begin, givenUp } = reading()
    for (const name of names(0, 1000)) begin(name)
    expect(givenUp).toEqual([])
    for (const name of names(1000, 1003)) begin(name)
    expect(givenUp).toEqual(['0', '1', '2'])
  })

  it('leave room once they have ended, in any order', () => {
    const { bodies, begin, givenUp } = reading()
    const begun = names(0, 1000).map(begin)
    for (const body of [begun[999], begun[0], begun[500]]) bodies.end(body as OpenBody)
    for (const name of names(1000, 1003)) begin(name)
    expect(givenUp).toEqual([])
    begin('1003')
    expect(givenUp).toEqual(['1'])
  })

  it('stay if large ones use up the total', () => {
    const { bodies, begin, givenUp } = reading()
    bodies.arrived(begin('small'), 64 * KIB)
    for (const name of names(0, 70)) bodies.arrived(begin(name), MIB)
    expect(givenUp).toEqual(names(0, 6))
  })

  it('are not spared by a byte now and then, but by 16 KiB', () => {
    const { bodies, begin, givenUp } = reading()
    const [trickling, moving] = [begin('trickling'), begin('moving')]
    for (const name of names(2, 1000)) begin(name)
    for (let i = 1; i < 100; i++) bodies.arrived(trickling, i)
    bodies.arrived(moving, 16 * KIB)
    for (const name of names(1000, 1003)) begin(name)
    expect(givenUp).toEqual(['trickling', '2', '3'])
  })

  it('are as many as fit into the total, if that is less', () => {
    const { begin, givenUp } = reading(4 * MIB)
    for (const name of names(0, 65)) begin(name)
    expect(givenUp).toEqual(['0'])
    const tiny = reading(2000, 1000)
    for (const name of names(0, 4)) tiny.begin(name)
    expect(tiny.givenUp).toEqual(['0', '1'])
  })
})

describe('large bodies', () => {
  it('weigh what has arrived, and the one that has waited longest is given up', () => {
    const { bodies, begin, givenUp } = reading()
    const begun = names(0, 64).map(begin)
    for (const body of begun) bodies.arrived(body, MIB - 1)
    expect(givenUp).toEqual([])
    bodies.arrived(begin('64'), 64 * KIB)
    expect(givenUp).toEqual([])
    bodies.arrived(begin('65'), 64 * KIB + 1)
    expect(givenUp).toEqual(['0'])
  })

  it('go on if they bring their next 16 KiB before the others', () => {
    const { bodies, begin, givenUp } = reading(4 * MIB)
    const steady = begin('steady')
    bodies.arrived(steady, 100 * KIB)
    for (const name of names(0, 20)) {
      bodies.arrived(begin(name), 600 * KIB)
      bodies.arrived(steady, 100 * KIB + 16 * KIB * (Number(name) + 1))
    }
    expect(givenUp).toEqual(names(0, 14))
  })

  it('that trickle are given up before one that moves on', () => {
    const { bodies, begin, givenUp } = reading(4 * MIB)
    const trickling = names(0, 6).map(begin)
    for (const body of trickling) bodies.arrived(body, 600 * KIB)
    const moving = begin('moving')
    for (let i = 1; i <= 64; i++) {
      bodies.arrived(moving, i * 16 * KIB)
      trickling.forEach(body => {
        if (body.place !== undefined) bodies.arrived(body, 600 * KIB + i)
      })
    }
    expect(givenUp).toEqual(['0'])
  })

  it('free all that they held', () => {
    const { bodies, begin, givenUp } = reading()
    for (let round = 0; round < 3; round++) {
      const begun = names(0, 64).map(begin)
      for (const body of begun) for (const part of [1, 70 * KIB, MIB]) bodies.arrived(body, part)
      for (const body of begun) bodies.end(body)
    }
    expect(givenUp).toEqual([])
  })

  it('of the size of the total are read alone', () => {
    const { bodies, begin, givenUp } = reading(MIB)
    const [first, second] = [begin('first'), begin('second')]
    bodies.arrived(first, MIB)
    bodies.arrived(second, MIB)
    expect(givenUp).toEqual(['first'])
  })
})

it('a body that is complete before another begins never gets a place', () => {
  const { bodies, begin } = reading()
  for (const name of names(0, 2000)) {
    const body = begin(name)
    bodies.arrived(body, 2048)
    bodies.end(body)
    expect(body.place).toBeUndefined()
  }
})

it('a body that has ended is not counted again', () => {
  const { bodies, begin, givenUp } = reading(MIB)
  const ended = begin('ended')
  bodies.end(ended)
  bodies.arrived(ended, MIB)
  bodies.end(ended)
  bodies.arrived(begin('next'), MIB)
  expect(givenUp).toEqual([])
})

it('the reason says what was held, and for how long', () => {
  const { bodies, begin, details } = reading(MIB)
  bodies.arrived(begin('first'), MIB)
  vi.advanceTimersByTime(2500)
  bodies.arrived(begin('second'), MIB)
  expect(details).toEqual([
    'given up after 2.5 s without progress: larger bodies held 2097152 of 1048576 bytes (body.totalLimit), and none had waited longer',
  ])
})

it.each([
  ['small', 1, 100],
  ['large', MIB, 25],
])(
  'senders of %s bodies that were given up learn it at once, and many of them in turn',
  async (_, length, atOnce) => {
    vi.advanceTimersByTime(10_000)
    const bodies = new ReadingBodies({ totalBytes: MIB, largest: MIB })
    let told = 0
    const begin = () => {
      const body: OpenBody = {
        place: undefined,
        giveUp: refusal => void bodies.turnToReply(refusal).then(() => told++),
      }
      bodies.begin(body)
      bodies.arrived(body, length)
    }
    const room = length === MIB ? 1 : 16
    for (let i = 0; i < 3 * atOnce + room; i++) begin()
    await vi.advanceTimersByTimeAsync(0)
    expect(told).toBe(atOnce)
    await vi.advanceTimersByTimeAsync(1000)
    expect(told).toBe(2 * atOnce)
    await vi.advanceTimersByTimeAsync(1000)
    expect(told).toBe(3 * atOnce)
  },
)
