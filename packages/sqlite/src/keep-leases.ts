import type { Batcher } from './engine/batcher.ts'
import type { Held } from './sqlite-inbox.ts'

export interface LeaseKeeperParts {
  readonly held: ReadonlyMap<string, Held>
  readonly leaseMs: number
  readonly batcher: Batcher
  readonly lose: (one: Held) => void
}

export interface LeaseKeeper {
  stop(): void
}

/** Renews the lease of every held row at a third of its length. */
export function keepLeases({ held, leaseMs, batcher, lose }: LeaseKeeperParts): LeaseKeeper {
  async function renew(one: Held): Promise<void> {
    try {
      const { seq, token } = one.row
      // One that has just been settled is no longer leased, and not lost either.
      if (!(await batcher.renew({ seq, token })) && !one.ended) lose(one)
    } catch {
      // Not known: the next round sees whether somebody has taken it meanwhile.
    }
  }

  const timer = setInterval(() => {
    for (const one of held.values()) void renew(one)
  }, leaseMs / 3)
  return {
    stop() {
      clearInterval(timer)
    },
  }
}
