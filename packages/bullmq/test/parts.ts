import type { Delivery, Observation } from '@ackhook/core'
import type { AttemptResult, CrashDecision, ProcessEvent, ProcessingPolicy } from '@ackhook/core/spi'

let count = 0

/** A new name for a queue or an event. */
export function unique(prefix: string): string {
  return `${prefix}${process.pid}x${(count++).toString(36)}`
}

export function aDelivery(overrides: Partial<Delivery> = {}): Delivery {
  const id = overrides.id ?? unique('evt_')
  const event = { id, type: 'conversation.resolved', created_at: new Date().toISOString(), data: {} }
  return {
    key: `key-${id}`,
    namespace: '',
    id,
    type: 'conversation.resolved',
    body: Buffer.from(JSON.stringify(event)),
    fingerprint: 17,
    receivedAt: Date.now(),
    ...overrides,
  }
}

export function aPolicy(
  overrides: Partial<ProcessingPolicy> = {},
): ProcessingPolicy & { seen: Observation[] } {
  const seen: Observation[] = []
  return {
    acknowledge: 'immediately',
    concurrency: 4,
    capacity: 10_000,
    handlerTimeoutMs: 60_000,
    retry: { attempts: 3, minDelayMs: 10, maxDelayMs: 50, factor: 2 },
    retentionMs: 604_800_000,
    serialize: false,
    clock: Date.now,
    observe: observation => void seen.push(observation),
    logger: { info() {}, warn() {}, error() {} },
    seen,
    ...overrides,
  }
}

/** Returns the given results in turn, then the last one forever, and records its calls. */
export function scripted(
  ...results: AttemptResult[]
): ProcessEvent & { runs: { delivery: Delivery; attempt: number; decision: CrashDecision }[] } {
  const runs: { delivery: Delivery; attempt: number; decision: CrashDecision }[] = []
  const work: ProcessEvent = async (delivery, attempt) => {
    const { number, decision } = attempt
    runs.push({ delivery, attempt: number, decision })
    return results[Math.min(runs.length, results.length) - 1]!
  }
  return Object.assign(work, { runs })
}

export const COMPLETED: AttemptResult = { outcome: 'completed' }

/** Waits for as long as a busy machine may need, and less than a test may take. */
export async function until(condition: () => unknown, timeoutMs = 50_000): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${condition}`)
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}
