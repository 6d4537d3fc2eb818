import type { Random } from '../lib/seeded-random.ts'

/** Moves each item to a random place, with this chance. */
export function shuffleSome<T>(items: readonly T[], chance: number, random: Random): readonly T[] {
  const order = [...items]
  if (chance === 0) return order
  for (let i = order.length - 1; i > 0; i--) {
    if (random() >= chance) continue
    const other = Math.floor(random() * (i + 1))
    ;[order[i], order[other]] = [order[other] as T, order[i] as T]
  }
  return order
}
