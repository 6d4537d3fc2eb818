export { bullmqInbox } from './bullmq-inbox.ts'
export type { BullmqInboxOptions } from './options.ts'
