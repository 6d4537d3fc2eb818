export type { OpenStores, StoreCase, StoreHarness } from './store-harness.ts'
export { storeSuite } from './store-suite.ts'
