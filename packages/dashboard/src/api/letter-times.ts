import { groupOf } from '@ackhook/core/spi'
import { MAX_LIMIT, MAX_SCANNED, pageOf } from '../letters/list-letters.ts'
import type { ResolvedDashboard } from '../options/options.ts'
import type { LetterTimes } from '../protocol/protocol.ts'

const PARTS = 24
/** A slow inbox has shown enough by then. */
const MAX_MS = 2000

/** Counts the newest letters of each group over time: those of one page if the inbox cannot omit their bodies. */
export async function readTimes({ inbox }: Pick<ResolvedDashboard, 'inbox'>): Promise<LetterTimes> {
  const canOmitBodies = inbox.browse !== undefined && inbox.browsing?.states.includes('dead') === true
  const most = canOmitBodies ? MAX_SCANNED : MAX_LIMIT
  const failures: { readonly group: string; readonly at: number }[] = []
  const endsAt = performance.now() + MAX_MS
  let isPartial = true
  for (let after: string | undefined; failures.length < most && performance.now() < endsAt; ) {
    const rows = await pageOf(inbox, { state: 'dead', after }, MAX_LIMIT)
    for (const row of rows) failures.push({ group: groupOf({ reason: '', ...row }), at: row.failedAt ?? 0 })
    after = rows.at(-1)?.cursor
    if (after === undefined) {
      isPartial = false
      break
    }
  }
  const times = failures.map(({ at }) => at)
  const [from, to] = times.length === 0 ? [0, 0] : [Math.min(...times), Math.max(...times)]
  const widthMs = (to + 1 - from) / PARTS
  const groups: Record<string, number[]> = {}
  for (const { group, at } of failures) {
    groups[group] ??= Array<number>(PARTS).fill(0)
    const part = Math.floor((at - from) / widthMs)
    groups[group][part] = (groups[group][part] ?? 0) + 1
  }
  return { from, to, groups, ...(isPartial && { isPartial }) }
}
