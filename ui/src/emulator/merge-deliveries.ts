import type { DeliveryView } from '../../../packages/emulator/src/api/delivery-view.ts'

/** Rows that a page keeps. Older ones are loaded again when one scrolls to them. */
export const MAX_ROWS = 5000

export interface Tail {
  /** Newest first. */
  readonly rows: readonly DeliveryView[]
  readonly fresh: readonly DeliveryView[]
}

interface Merge {
  readonly filter: Readonly<Record<string, string>>
  /** New rows wait in `fresh`. */
  readonly held: boolean
  /** Older rows have not been loaded. */
  readonly hasMore: boolean
}

/** The list after some deliveries changed: known ones in place, new ones on top or held back. */
export function mergeDeliveries(
  { rows, fresh }: Tail,
  changed: readonly DeliveryView[],
  { filter, held, hasMore }: Merge,
): Tail {
  const latest = new Map(changed.map(delivery => [delivery.id, delivery]))
  const update = (known: readonly DeliveryView[]) =>
    known.flatMap(row => {
      const now = latest.get(row.id)
      if (now === undefined) return [row]
      latest.delete(row.id)
      // Only the emulator can judge a text, and it found this one.
      const { text, ...rest } = filter
      return matches(now, rest) ? [now] : []
    })
  const updatedRows = update(rows)
  const updatedFresh = update(fresh)
  // One that is older than what has loaded comes with its page.
  const oldest = hasMore ? (rows.at(-1)?.seq ?? 0) : 0
  const added = [...latest.values()].filter(delivery => delivery.seq > oldest && matches(delivery, filter))
  return held
    ? { rows: updatedRows, fresh: newestFirst([...added, ...updatedFresh]) }
    : { rows: newestFirst([...added, ...updatedFresh, ...updatedRows]), fresh: [] }
}

function newestFirst(deliveries: readonly DeliveryView[]): readonly DeliveryView[] {
  return deliveries.toSorted((a, b) => b.seq - a.seq).slice(0, MAX_ROWS)
}

/** Whether a delivery belongs in a list with this filter. */
function matches(delivery: DeliveryView, filter: Readonly<Record<string, string>>): boolean {
  if (filter['text'] !== undefined) return false
  const { workspace, category, type, state, event, message, lastStatus, createdAt } = delivery
  const fields: Readonly<Record<string, string>> = {
    ...{ workspace, category, type, state, event },
    message: message ?? '',
    status: String(lastStatus ?? ''),
  }
  return Object.entries(filter).every(([name, value]) =>
    name === 'from' ? createdAt >= value : fields[name] === value,
  )
}
