export { adapterCases } from './adapter-cases.ts'
export { type AdapterCase, type AdapterTarget, adapterSuiteOptions } from './target.ts'
