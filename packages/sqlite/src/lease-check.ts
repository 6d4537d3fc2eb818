import type { Batcher } from './engine/batcher.ts'
import type { HeldRow, HeldRows } from './held-rows.ts'

export interface LeaseCheckParts {
  readonly held: HeldRows
  readonly leaseMs: number
  readonly batcher: Batcher
  readonly onLost: (held: HeldRow) => void
}

/**
 * Checks every held row three times per lease. The engine renews the leases itself; a check shows it that the
 * application is alive.
 */
export function startLeaseCheck({ held, leaseMs, batcher, onLost }: LeaseCheckParts): { stop(): void } {
  async function check(one: HeldRow): Promise<void> {
    const { seq, token } = one.row
    try {
      const isHeld = await batcher.check({ seq, token })
      // A row that has just been settled is no longer leased, and not lost either.
      if (!isHeld && !one.hasEnded) onLost(one)
    } catch {
      // The next check shows whether another process has taken the row.
    }
  }

  const timer = setInterval(() => {
    for (const one of held.all()) {
      // Skips a row that has no lease yet.
      if (one.before === undefined) void check(one)
    }
  }, leaseMs / 3)
  return {
    stop() {
      clearInterval(timer)
    },
  }
}
