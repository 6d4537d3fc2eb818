import {
  type Meter,
  type MeterProvider,
  ProxyTracerProvider,
  type Tracer,
  type TracerProvider,
} from '@opentelemetry/api'
import { VERSION } from './version.ts'

const NAME = '@ackhook/opentelemetry'
/** The conventions that the names of `attributes.ts` and `instruments.ts` follow. */
const SCHEMA = { schemaUrl: 'https://opentelemetry.io/schemas/1.45.0' }

export function tracerOf(provider: TracerProvider): Tracer {
  return provider.getTracer(NAME, VERSION, SCHEMA)
}

/** Creates a check whether a provider's spans may be exported. The global provider's are not before an SDK is set up. */
export function createTracingCheck(provider: TracerProvider): () => boolean {
  let isTracing = !(provider instanceof ProxyTracerProvider)
  return () => {
    if (!isTracing) isTracing = (provider as ProxyTracerProvider).getDelegateTracer(NAME) !== undefined
    return isTracing
  }
}

export function meterOf(provider: MeterProvider): Meter {
  return provider.getMeter(NAME, VERSION, SCHEMA)
}
