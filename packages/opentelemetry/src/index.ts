export {
  type OpenTelemetry,
  type OpenTelemetryOptions,
  opentelemetry,
  type WatchedReceiver,
  type WatchOptions,
} from './opentelemetry.ts'
