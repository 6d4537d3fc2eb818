export type { NotRun, SuiteCase, SuiteCases } from '../lib/suite-case.ts'
export { type AdapterSuiteOptions, adapterSuite, type ServerSuiteOptions, serverSuite } from './suite.ts'
export {
  type AdapterTarget,
  type AwaitedResponse,
  adapterSuiteOptions,
  type MountedTarget,
  type SuiteReceiverOptions,
} from './target.ts'
