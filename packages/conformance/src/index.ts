export { runCase } from './lib/run-case.ts'
export type { NotRun, SuiteCase, SuiteCases } from './lib/suite-case.ts'
