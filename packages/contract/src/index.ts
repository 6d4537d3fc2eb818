/**
 * The contract as observed: recorded deliveries, types from them, and what has changed. Runs on every runtime.
 *
 * @module
 */

export { type DriftKind, driftOf, type Finding } from './drift/drift-of.ts'
export { type DriftOptions, type DriftWatch, watchDrift } from './drift/watch-drift.ts'
export { type TypesOptions, typesOf } from './print/types-of.ts'
export type { Redact } from './record/mask.ts'
export {
  type Recorder,
  type RecordOptions,
  recordDeliveries,
  type WriteRecording,
} from './record/record-deliveries.ts'
export type { RecordedSignature, Recording } from './record/recording.ts'
