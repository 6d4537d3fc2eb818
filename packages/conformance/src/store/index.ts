// On an older Node, it says which one is needed.
import '@ackhook/core'

export type { NotRun, SuiteCase, SuiteCases } from '../lib/suite-case.ts'
export { type StoreSuiteOptions, storeSuite } from './suite.ts'
export type { CountedStoreTarget, FailingStoreTarget, StoreTarget } from './target.ts'
