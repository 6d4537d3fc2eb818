export { inboxCases } from './inbox-cases.ts'
export type { InboxCapabilities, InboxCase, InboxTarget } from './target.ts'
