import { expect, it } from 'vitest'
import { compareRounds, inTurns } from '../../bench/lib/comparison.mjs'

const decides = [['us', 'ours', 'theirs']] as const
const roundOf = (ours: number, theirs: number) => ({ ours: { us: ours }, theirs: { us: theirs } })

it('stops after the fewest rounds if they already agree', async () => {
  const found = await compareRounds(async number => roundOf(2 + 0.01 * (number % 2), 1), {
    decides,
    fewest: 6,
  })
  expect(found.size).toBe(6)
  expect(found.ratioOf('us', 'ours', 'theirs')).toMatchObject({ isNarrow: true })
})

it('continues until the interval is narrow', async () => {
  const found = await compareRounds(async number => roundOf(number < 3 ? 1 + number / 4 : 1.25, 1), {
    decides,
    fewest: 3,
    most: 100,
  })
  expect(found.size).toBeGreaterThan(3)
  expect(found.size).toBeLessThan(100)
  expect(found.ratioOf('us', 'ours', 'theirs').isNarrow).toBe(true)
})

it('continues until the interval is as narrow as requested', async () => {
  const sizes = []
  for (const within of [undefined, 0.02, 0.01]) {
    const found = await compareRounds(async number => roundOf(1 + 0.04 * (number % 2), 1), {
      decides,
      ...(within !== undefined && { within }),
      fewest: 4,
      most: 200,
    })
    const { low, high } = found.ratioOf('us', 'ours', 'theirs')
    expect((high - low) / 2).toBeLessThan(1.02 * (within ?? 0.05))
    sizes.push(found.size)
  }
  expect(sizes).toEqual(sizes.toSorted((one, other) => one - other))
  expect(new Set(sizes).size).toBe(3)
})

it('stops after the most rounds, and then reports that the interval is wide', async () => {
  const found = await compareRounds(async number => roundOf(number % 2 === 0 ? 1 : 3, 1), {
    decides,
    fewest: 3,
    most: 9,
  })
  expect(found.size).toBe(9)
  expect(found.ratioOf('us', 'ours', 'theirs').isNarrow).toBe(false)
})

it('compares within a round, so that a slow round is slow for both', async () => {
  const found = await compareRounds(async number => roundOf(3 * (number + 1), 2 * (number + 1)), { decides })
  const { low, high } = found.ratioOf('us', 'ours', 'theirs')
  expect([low, high].map(value => value.toFixed(6))).toEqual(['1.500000', '1.500000'])
})

it('measures contenders in turns, A B and then B A', async () => {
  const order: string[] = []
  const round = inTurns(['A', 'B'], async name => {
    order.push(name)
    return { us: 1 }
  })
  await round(0)
  await round(1)
  expect(order).toEqual(['A', 'B', 'B', 'A'])
})
