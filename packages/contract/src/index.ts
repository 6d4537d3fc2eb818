/**
 * The contract as observed: recorded deliveries, types from them, and what has changed. Runs on every runtime.
 *
 * @module
 */

export { type TypesOptions, typesOf } from './print/types-of.ts'
export type { Redact } from './record/mask.ts'
export {
  type Recorder,
  type RecordOptions,
  recordDeliveries,
  type WriteRecording,
} from './record/record-deliveries.ts'
export type { RecordedSignature, Recording } from './record/recording.ts'
