import type { ProcessingPolicy } from '@ackhook/core/spi'

/**
 * Creates a policy for starting an inbox in a test: 16 events at a time, an hour of retention, five attempts within
 * 200 ms.
 *
 * @example
 * const policy = makePolicy({ concurrency: 1 })
 */
export function makePolicy(parts: Partial<ProcessingPolicy> = {}): ProcessingPolicy {
  return {
    acknowledge: 'immediately',
    concurrency: 16,
    capacity: 10_000,
    handlerTimeoutMs: 60_000,
    retry: { attempts: 5, minDelayMs: 10, maxDelayMs: 50, factor: 2 },
    retentionMs: 3_600_000,
    serialize: false,
    clock: Date.now,
    observe() {},
    logger: { info() {}, warn() {}, error() {} },
    ...parts,
  }
}
