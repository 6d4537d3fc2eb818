export { bullmqInbox } from './bullmq-inbox.ts'
export type { BullmqInboxOptions, PostgresPool } from './options.ts'
