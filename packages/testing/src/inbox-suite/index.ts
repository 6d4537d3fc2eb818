export type { SuiteCase } from '../lib/suite-case.ts'
export { type InboxSuiteOptions, inboxSuite } from './suite.ts'
export type { InboxCapabilities, InboxTarget } from './target.ts'
