export type { WatchedReceiver } from './gauges.ts'
export {
  type OpenTelemetry,
  type OpenTelemetryOptions,
  opentelemetry,
  type WatchOptions,
} from './opentelemetry.ts'
