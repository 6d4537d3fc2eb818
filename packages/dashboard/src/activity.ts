export { type ActivitySources, readActivity } from './activity/read-activity.ts'
export { type Facts, verdictOf } from './activity/verdict.ts'
export type { ActivityReport, Verdict, VerdictState } from './protocol/protocol.ts'
