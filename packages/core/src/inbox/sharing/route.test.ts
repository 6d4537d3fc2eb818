import { describe, expect, it } from 'vitest'
import { RANK } from './pattern-set.ts'
import { decideRoute, type Situation } from './route.ts'

const ordinary: Situation = {
  type: 'a.b',
  own: RANK.none,
  best: RANK.none,
  routingToken: 0,
  isLive: false,
  hasRoom: true,
  keepMs: 600_000,
}
const route = (situation: Partial<Situation>) => decideRoute({ ...ordinary, ...situation })
/** Token of an event that waits for this rank. */
function markFor(best: number, routingToken = 0): number {
  const found = route({ best, routingToken })
  return found?.outcome === 'postponed' ? found.routingToken : Number.NaN
}

describe('an event', () => {
  const ranks = Object.values(RANK)
  it.each(ranks.flatMap(own => ranks.map(best => [own, best] as const)))(
    'handled here with rank %i and elsewhere with %i runs where the rank is higher, or anywhere if equal',
    (own, best) => {
      expect(route({ own, best })?.outcome).toBe(own >= best ? undefined : 'postponed')
    },
  )

  it.each([
    { isLive: false, name: '5 s', longestMs: 5000 },
    { isLive: true, name: '2 s where the other process runs', longestMs: 2000 },
  ])('waits from 100 ms to $name, longer each time', ({ isLive, longestMs }) => {
    const delays: number[] = []
    let routingToken = 0
    for (let waits = 0; waits < 40; waits++) {
      const found = route({ best: RANK.exact, routingToken, isLive })
      if (found?.outcome !== 'postponed') throw new Error(`not postponed: ${found?.outcome}`)
      delays.push(found.delayMs)
      routingToken = found.routingToken
    }
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(100)
    expect(Math.max(...delays)).toBeLessThanOrEqual(longestMs)
    for (const [waits, delayMs] of delays.entries())
      expect(delayMs).toBeGreaterThanOrEqual(Math.min(longestMs / 2, 50 * 2 ** waits))
    expect(Number.isSafeInteger(routingToken) && routingToken < 2 ** 31).toBe(true)
  })

  it('is dead once the handler it waited for is no longer expected, despite less specific handlers', () => {
    for (const own of [RANK.none, RANK.onUnhandled, RANK.all, RANK.category])
      for (const best of [RANK.none, RANK.onUnhandled, RANK.all, RANK.category])
        expect(route({ own, best, routingToken: markFor(RANK.exact) })).toMatchObject({
          outcome: 'dead',
          error: { code: 'handler_missing', message: expect.stringContaining("'10m'") },
        })
  })

  it('that waited runs where a handler is as specific as the one it waited for', () => {
    expect(route({ own: RANK.category, routingToken: markFor(RANK.category) })).toBeUndefined()
    expect(route({ own: RANK.exact, routingToken: markFor(RANK.category) })).toBeUndefined()
    expect(route({ own: RANK.all, routingToken: markFor(RANK.category) })?.outcome).toBe('dead')
  })

  it('waits for the most specific handler that it has encountered', () => {
    const routingToken = markFor(RANK.exact, markFor(RANK.all))
    expect(route({ own: RANK.category, best: RANK.exact, routingToken })?.outcome).toBe('postponed')
    expect(route({ own: RANK.category, best: RANK.category, routingToken })?.outcome).toBe('dead')
  })

  it('waits for the same handler again if its dead letter is redriven, and is dead again', () => {
    const missing = route({ routingToken: markFor(RANK.exact) })
    const crowded = route({ best: RANK.exact, hasRoom: false })
    for (const dead of [missing, crowded]) {
      if (dead?.outcome !== 'dead') throw new Error(`not dead: ${dead?.outcome}`)
      const { routingToken } = dead
      expect(route({ routingToken })).toMatchObject({ outcome: 'dead', routingToken })
      expect(route({ own: RANK.all, routingToken })?.outcome).toBe('dead')
      expect(route({ best: RANK.exact, routingToken })).toMatchObject({
        outcome: 'postponed',
        routingToken: markFor(RANK.exact),
      })
      expect(route({ best: RANK.exact, routingToken, hasRoom: false })).toEqual(crowded)
      expect(route({ own: RANK.exact, routingToken })).toBeUndefined()
    }
  })

  it('is dead if too many wait, unless it is one of them', () => {
    expect(route({ best: RANK.exact, hasRoom: false })).toMatchObject({
      outcome: 'dead',
      error: { code: 'handler_missing', message: expect.stringContaining('capacity') },
    })
    expect(route({ best: RANK.exact, hasRoom: false, routingToken: markFor(RANK.exact) })?.outcome).toBe(
      'postponed',
    )
  })
})
