export type { NotRun, SuiteCase, SuiteCases } from '../lib/suite-case.ts'
export { type InboxSuiteOptions, inboxSuite } from './suite.ts'
export type { InboxCapabilities, InboxTarget } from './target.ts'
