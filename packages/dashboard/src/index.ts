export { type Dashboard, dashboard } from './mount/dashboard.ts'
export type { RedactedEvent } from './options/activity.ts'
export type { Authorization, DashboardOptions } from './options/options.ts'
