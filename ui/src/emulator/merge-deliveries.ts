import { covers } from '../../../packages/core/src/events/type-pattern.ts'
import type { DeliveryView } from '../../../packages/emulator/src/api/delivery-view.ts'
import {
  meetsReplyTerms,
  readReplyTerms,
  replyTextOf,
} from '../../../packages/emulator/src/shapes/reply-filter.ts'
import type { PageWindow } from '../kit/page-window.ts'

interface Merge {
  readonly filter: Readonly<Record<string, string>>
  readonly oldestFirst: boolean
  /** `true` to hold back new deliveries. */
  readonly held: boolean
  /** `seq` of the newest delivery that the list has shown. */
  readonly newest: number
}

/** Merges changed deliveries into the list. Returns the new ones that are held back. */
export function mergeDeliveries(
  pages: PageWindow<DeliveryView>,
  changed: readonly DeliveryView[],
  { filter, oldestFirst, held, newest }: Merge,
): readonly DeliveryView[] {
  const latest = new Map(changed.map(delivery => [delivery.id, delivery]))
  const { text: _, ...rest } = filter
  pages.update(row => {
    const now = latest.get(row.id)
    if (now === undefined) return row
    latest.delete(row.id)
    // Only the emulator can match text, and it has found this row.
    return matches(now, rest) ? now : undefined
  })
  const added = [...latest.values()].filter(one => matches(one, filter))
  const isNew = ({ seq }: DeliveryView) => !oldestFirst && seq > newest
  const order = (a: DeliveryView, b: DeliveryView) => (oldestFirst ? a.seq - b.seq : b.seq - a.seq)
  for (const one of added) if (!isNew(one)) place(pages, one, order)
  const onTop = added.filter(isNew).sort(order)
  if (held || !pages.isAtTop) return onTop
  if (onTop.length > 0) pages.prepend(onTop, cursorOf)
  return []
}

/** Inserts a delivery among the rows held. Outside them, it loads with its page. */
function place(
  pages: PageWindow<DeliveryView>,
  one: DeliveryView,
  order: (a: DeliveryView, b: DeliveryView) => number,
): void {
  const { rows, hasMore } = pages.view()
  const [first, last] = [rows[0], rows.at(-1)]
  if (first === undefined || last === undefined || order(one, first) < 0) {
    if (pages.isAtTop && !(hasMore && first === undefined)) pages.prepend([one], cursorOf)
  } else if (order(one, last) > 0) pages.extend(cursorOf(last))
  else pages.insert(one, order)
}

function cursorOf({ seq }: DeliveryView): string {
  return String(seq)
}

/** Returns whether a delivery matches a filter. */
function matches(delivery: DeliveryView, filter: Readonly<Record<string, string>>): boolean {
  if (filter['text'] !== undefined) return false
  const { workspace, category, type, kind, state, event, message, batch } = delivery
  const fields: Readonly<Record<string, string>> = {
    ...{ workspace, category, type, kind, state, event },
    message: message ?? '',
    batch: batch ?? '',
  }
  return Object.entries(filter).every(([name, value]) => {
    if (name === 'type') return covers(value, type)
    if (name === 'status') return meetsReplyTerms(readReplyTerms(value), delivery)
    if (name === 'reply') return replyTextOf(delivery) === value
    if (name === 'mark') return delivery.marks.some(mark => mark === value)
    if (name === 'to') return delivery.createdAt < value
    return name === 'from' ? delivery.createdAt >= value : fields[name] === value
  })
}
