export type { SuiteCase } from '../lib/suite-case.ts'
export { type AdapterSuiteOptions, adapterSuite } from './suite.ts'
export { type AdapterTarget, adapterSuiteOptions } from './target.ts'
