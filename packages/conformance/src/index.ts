// On an older Node, it says which one is needed.
import '@ackhook/core'

export { runCase } from './lib/run-case.ts'
export type { NotRun, SuiteCase, SuiteCases } from './lib/suite-case.ts'
