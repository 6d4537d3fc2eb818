export type { NotRun, SuiteCase, SuiteCases } from '../lib/suite-case.ts'
export { type DeliveryParts, makeDelivery } from './make-delivery.ts'
export { makePolicy } from './make-policy.ts'
export { type InboxProcessHandle, inboxProcess } from './process/inbox-process.ts'
export { serveInbox } from './process/serve-inbox.ts'
export { type InboxSuiteOptions, inboxSuite } from './suite.ts'
export type {
  DistantInbox,
  InboxCapabilities,
  InboxHooks,
  InboxTarget,
  MortalInbox,
  PathState,
} from './target.ts'
