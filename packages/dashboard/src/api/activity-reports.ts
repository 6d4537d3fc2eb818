import { type ActivitySources, readActivity, windowOf } from '../activity/read-activity.ts'
import { shorten } from '../letters/shorten.ts'
import type { ResolvedDashboard } from '../options/options.ts'
import { type ActivityReport, ApiProblem } from '../protocol/protocol.ts'

/** Time for which a report is reused: pages ask every few seconds, in many tabs. */
const REUSED_MS = 1000
const MAX_ERROR = 500

/** Returns a function that reads the report of a window, once for those who ask at about the same time. */
export function createReports({
  inbox,
  receiver,
  redact,
}: ResolvedDashboard): (window: string) => Promise<ActivityReport> {
  const show: ActivitySources['show'] = (error, event) => shorten(redact(error, event), MAX_ERROR)
  const last = new Map<string, { readonly at: number; readonly report: Promise<ActivityReport> }>()
  return text => {
    const window = windowOf(text)
    if (window === undefined) throw new ApiProblem(400, 'invalid', "'window' must be 1h, 24h or 7d.")
    const at = performance.now()
    const known = last.get(window)
    if (known !== undefined && at - known.at < REUSED_MS) return known.report
    const report = readActivity({ inbox, receiver, show }, window)
    last.set(window, { at, report })
    return report
  }
}
