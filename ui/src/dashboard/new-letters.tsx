import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { EventPage, EventRow, Overview } from '../../../packages/dashboard/src/protocol/protocol.ts'
import { call } from '../kit/api.ts'
import { selectionHere } from './filters.tsx'

const MOST = 50

interface Fresh {
  /** Number of letters since the list was loaded, up to {@link MOST}. */
  readonly count: Signal<number>
  /** Sets the letters at the top of the list. */
  readonly isShown: (rows: readonly EventRow[]) => void
}

/**
 * Counts letters that a list does not show yet, whenever the overview's counts change. The list stays as it is, so that
 * rows do not move under the pointer.
 */
export function useNewLetters(overview: Overview | undefined): Fresh {
  const shown = useRef<readonly EventRow[] | undefined>(undefined)
  const count = useSignal(0)
  const deaths = overview?.throughput?.reduce((sum, { deadLettered }) => sum + deadLettered, 0)
  const state = overview === undefined ? '' : `${overview.stats.dead} ${deaths}`
  const before = useRef('')
  useEffect(() => {
    const isFirst = before.current === ''
    before.current = state
    if (isFirst || state === '' || shown.current === undefined) return
    const { filter, age } = selectionHere.peek()
    // No new letter is old.
    if (age !== '') return
    const query = { ...filter, limit: MOST }
    call<EventPage>('api/letters', { query }).then(
      ({ events }) => (count.value = countNew(events, shown.current ?? [])),
      // The overview shows that the server does not respond.
      () => {},
    )
  }, [state])
  return {
    count,
    isShown(rows) {
      shown.current = rows
      count.value = 0
    },
  }
}

function countNew(events: readonly EventRow[], shown: readonly EventRow[]): number {
  const known = new Set(shown.map(placeOf))
  const newest = Math.max(0, ...shown.map(({ failedAt = 0 }) => failedAt))
  return events.filter(event => (event.failedAt ?? 0) >= newest && !known.has(placeOf(event))).length
}

/** Identifies a letter by key and failure, so that one that failed again counts as new. */
function placeOf({ key, failedAt }: EventRow): string {
  return `${key} ${failedAt}`
}

export function NewLetters({ count, show }: { readonly count: number; readonly show: () => void }) {
  return (
    <div class="push" role="status">
      {count > 0 && (
        <button type="button" onClick={show}>
          {count < MOST ? count : `${MOST} or more`} new
        </button>
      )}
    </div>
  )
}
