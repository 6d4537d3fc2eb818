import type { EventPage, EventRow } from '../../../packages/dashboard/src/protocol/protocol.ts'
import { type CallOptions, call } from '../kit/api.ts'
import { PAGE_ROWS, type PageOf } from '../kit/page-window.ts'

/** Loads a page of events. Each request searches a limited number of them, so matches may follow an empty page. */
export async function loadEvents<Row>(
  path: 'api/events' | 'api/letters',
  query: NonNullable<CallOptions['query']>,
  signal: AbortSignal,
  toRow: (event: EventRow) => Row,
): Promise<PageOf<Row>> {
  let after = query['after']
  for (;;) {
    const { events, next } = await call<EventPage>(path, {
      query: { limit: PAGE_ROWS, ...query, after },
      signal,
    })
    if (events.length > 0 || next === undefined) return { rows: events.map(toRow), next }
    after = next
  }
}
