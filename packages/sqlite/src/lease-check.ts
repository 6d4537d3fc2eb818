import type { Batcher } from './engine/batcher.ts'
import type { HeldRow, HeldRows } from './held-rows.ts'

export interface LeaseCheckParts {
  readonly held: HeldRows
  readonly leaseMs: number
  readonly batcher: Batcher
  readonly onLost: (held: HeldRow) => void
}

/**
 * Checks every held row at a third of a lease. The renewal itself is done where the SQL runs; there, a check is the
 * sign that the application lives.
 */
export function startLeaseCheck({ held, leaseMs, batcher, onLost }: LeaseCheckParts): { stop(): void } {
  async function check(one: HeldRow): Promise<void> {
    const { seq, token } = one.row
    try {
      const isHeld = await batcher.check({ seq, token })
      // A row that has just been settled is no longer leased, and not lost either.
      if (!isHeld && !one.hasEnded) onLost(one)
    } catch {
      // Unknown here: the next check finds out whether another process has taken it.
    }
  }

  const timer = setInterval(() => {
    for (const one of held.all()) {
      // The row has no lease yet.
      if (one.before === undefined) void check(one)
    }
  }, leaseMs / 3)
  return {
    stop() {
      clearInterval(timer)
    },
  }
}
