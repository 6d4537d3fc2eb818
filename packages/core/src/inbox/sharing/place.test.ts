import { describe, expect, it } from 'vitest'
import { RANK } from './pattern-set.ts'
import { decidePlace, type Situation } from './place.ts'

const ordinary: Situation = {
  type: 'a.b',
  own: RANK.none,
  best: RANK.none,
  mark: 0,
  isLive: false,
  hasRoom: true,
  keepMs: 600_000,
}
const place = (situation: Partial<Situation>) => decidePlace({ ...ordinary, ...situation })
/** The mark of an event that waits for this rank. */
function markFor(best: number, mark = 0): number {
  const found = place({ best, mark })
  return found?.outcome === 'postponed' ? found.mark : Number.NaN
}

describe('an event', () => {
  const ranks = Object.values(RANK)
  it.each(ranks.flatMap(own => ranks.map(best => [own, best] as const)))(
    'that is handled here with rank %i and elsewhere with %i runs where it is greater, and where both are equal',
    (own, best) => {
      expect(place({ own, best })?.outcome).toBe(own >= best ? undefined : 'postponed')
    },
  )

  it.each([
    { isLive: false, name: '5 s', longestMs: 5000 },
    { isLive: true, name: '2 s where the other process runs', longestMs: 2000 },
  ])('waits from 100 ms to $name, longer each time', ({ isLive, longestMs }) => {
    const delays: number[] = []
    let mark = 0
    for (let waits = 0; waits < 40; waits++) {
      const found = place({ best: RANK.exact, mark, isLive })
      if (found?.outcome !== 'postponed') throw new Error(`not postponed: ${found?.outcome}`)
      delays.push(found.delayMs)
      mark = found.mark
    }
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(100)
    expect(Math.max(...delays)).toBeLessThanOrEqual(longestMs)
    for (const [waits, delayMs] of delays.entries())
      expect(delayMs).toBeGreaterThanOrEqual(Math.min(longestMs / 2, 50 * 2 ** waits))
    expect(Number.isSafeInteger(mark) && mark < 2 ** 31).toBe(true)
  })

  it('is dead when what it waited for is expected no longer, whatever handles it less specifically', () => {
    for (const own of [RANK.none, RANK.onUnhandled, RANK.all, RANK.category])
      for (const best of [RANK.none, RANK.onUnhandled, RANK.all, RANK.category])
        expect(place({ own, best, mark: markFor(RANK.exact) })).toMatchObject({
          outcome: 'dead',
          error: { code: 'handler_missing', message: expect.stringContaining("'10m'") },
        })
  })

  it('that waited runs where it is handled as specifically as it waited for', () => {
    expect(place({ own: RANK.category, mark: markFor(RANK.category) })).toBeUndefined()
    expect(place({ own: RANK.exact, mark: markFor(RANK.category) })).toBeUndefined()
    expect(place({ own: RANK.all, mark: markFor(RANK.category) })?.outcome).toBe('dead')
  })

  it('waits for the most specific handler that it has met', () => {
    const mark = markFor(RANK.exact, markFor(RANK.all))
    expect(place({ own: RANK.category, best: RANK.exact, mark })?.outcome).toBe('postponed')
    expect(place({ own: RANK.category, best: RANK.category, mark })?.outcome).toBe('dead')
  })

  it('waits for the same again when its dead letter is redriven, and is dead again', () => {
    const missing = place({ mark: markFor(RANK.exact) })
    const crowded = place({ best: RANK.exact, hasRoom: false })
    for (const dead of [missing, crowded]) {
      if (dead?.outcome !== 'dead') throw new Error(`not dead: ${dead?.outcome}`)
      const { mark } = dead
      expect(place({ mark })).toMatchObject({ outcome: 'dead', mark })
      expect(place({ own: RANK.all, mark })?.outcome).toBe('dead')
      expect(place({ best: RANK.exact, mark })).toMatchObject({
        outcome: 'postponed',
        mark: markFor(RANK.exact),
      })
      expect(place({ best: RANK.exact, mark, hasRoom: false })).toEqual(crowded)
      expect(place({ own: RANK.exact, mark })).toBeUndefined()
    }
  })

  it('is dead where too many wait, unless it is one of them', () => {
    expect(place({ best: RANK.exact, hasRoom: false })).toMatchObject({
      outcome: 'dead',
      error: { code: 'handler_missing', message: expect.stringContaining('capacity') },
    })
    expect(place({ best: RANK.exact, hasRoom: false, mark: markFor(RANK.exact) })?.outcome).toBe('postponed')
  })
})
