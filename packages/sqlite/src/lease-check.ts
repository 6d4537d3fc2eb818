import type { Batcher } from './engine/batcher.ts'
import type { Held, HeldRows } from './held-rows.ts'

export interface LeaseWatchParts {
  readonly held: Pick<HeldRows, 'all'>
  readonly leaseMs: number
  readonly batcher: Batcher
  readonly lose: (one: Held) => void
}

export interface LeaseWatch {
  stop(): void
}

/**
 * Asks at a third of a lease whether each held row still is. Renewing is done where the SQL runs; there, to be
 * asked is the sign that the application lives.
 */
export function watchLeases({ held, leaseMs, batcher, lose }: LeaseWatchParts): LeaseWatch {
  async function check(one: Held): Promise<void> {
    try {
      const { seq, token } = one.row
      // One that has just been settled is no longer leased, and not lost either.
      if (!(await batcher.check({ seq, token })) && !one.ended) lose(one)
    } catch {
      // Not known: the next round sees whether somebody has taken it meanwhile.
    }
  }

  const timer = setInterval(() => {
    for (const one of held.all()) void check(one)
  }, leaseMs / 3)
  return {
    stop() {
      clearInterval(timer)
    },
  }
}
