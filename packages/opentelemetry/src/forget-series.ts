import { type Attributes, diag, type ObservableGauge } from '@opentelemetry/api'

/**
 * The only file that touches members that the OpenTelemetry SDK does not publish. The specification says that a series
 * ends once its callback no longer observes it. The SDK for JavaScript instead exports the last value for as long as the
 * process lives, if its metrics are cumulative, as those for Prometheus are: an outage would look like a queue of
 * constant length. No value replaces it: not a number is no JSON, and a collector refuses the whole export.
 */
interface Series {
  entries(): Iterable<[Attributes, unknown, string]>
  readonly _valueMap: Map<string, unknown>
}

interface Storage {
  readonly _deltaMetricStorage: {
    readonly _activeCollectionStorage: Series
    readonly _cumulativeMemoStorage: Series
  }
  readonly _temporalMetricStorage: {
    readonly _unreportedAccumulations: Map<unknown, readonly Series[]>
    readonly _reportHistory: Map<unknown, { readonly accumulations: Series }>
  }
}

let isReported = false

/**
 * Ends the series with these attributes, for all readers: only what is observed from now on is exported. If another SDK
 * has other members, nothing changes, and `diag` says so once.
 */
export function forgetSeries(gauges: readonly ObservableGauge[], attributes: Attributes): void {
  for (const gauge of gauges) {
    const storages = (gauge as { readonly _metricStorages?: readonly Storage[] })._metricStorages
    // Without an SDK there is nothing to forget.
    for (const storage of storages ?? []) {
      try {
        for (const series of seriesOf(storage)) remove(series, attributes)
      } catch {
        if (!isReported) diag.warn(UNKNOWN_SDK)
        isReported = true
      }
    }
  }
}

function seriesOf({ _deltaMetricStorage: delta, _temporalMetricStorage: temporal }: Storage): Series[] {
  return [
    delta._activeCollectionStorage,
    delta._cumulativeMemoStorage,
    ...[...temporal._unreportedAccumulations.values()].flat(),
    ...[...temporal._reportHistory.values()].map(({ accumulations }) => accumulations),
  ]
}

function remove(series: Series, attributes: Attributes): void {
  // The SDK keeps the object that it was given, unless a view filters the attributes: then receivers share a series.
  for (const [own, , hash] of [...series.entries()]) if (own === attributes) series._valueMap.delete(hash)
}

const UNKNOWN_SDK =
  'ackhook: this OpenTelemetry SDK repeats the depth of an inbox during an outage. Read it only where ackhook.inbox.up is 1.'
