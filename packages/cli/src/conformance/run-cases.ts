import { runCase } from '@ackhook/conformance'
import type { SuiteCase } from '@ackhook/conformance/store'

export interface CaseResult {
  readonly id: string
  readonly name: string
  readonly ms: number
  /** Reason why it failed. Absent if it passed. */
  readonly error?: Error
}

/** Callback for each result, and the signal that ends a run early. */
interface RunOptions {
  readonly onResult: () => void
  readonly stop: AbortSignal
}

/** Runs cases one after the other, as they may share a server. A case that `stop` interrupts has no result. */
export async function runCases(
  cases: readonly SuiteCase[],
  { onResult, stop }: RunOptions,
): Promise<readonly CaseResult[]> {
  const strays = new StrayErrors()
  const results: CaseResult[] = []
  const stopped = new Promise<undefined>(resolve => stop.addEventListener('abort', () => resolve(undefined)))
  try {
    for (const one of cases) {
      const result = stop.aborted ? undefined : await Promise.race([resultOf(one, strays), stopped])
      if (result === undefined) break
      results.push(result)
      onResult()
    }
    return results
  } finally {
    strays.close()
  }
}

async function resultOf(one: SuiteCase, strays: StrayErrors): Promise<CaseResult> {
  const begun = performance.now()
  const failure = await runCase(one)
  // Unhandled rejections are reported only after the pending microtasks.
  await new Promise(resolve => setImmediate(resolve))
  const error = failure ?? strays.take()
  return {
    id: one.id,
    name: one.name,
    ms: Math.round(performance.now() - begun),
    ...(error !== undefined && { error }),
  }
}

const STRAY_EVENTS = ['unhandledRejection', 'uncaughtException', 'uncaughtExceptionMonitor'] as const

/** Collects unhandled errors, which fail the running case. Otherwise they would end the process without a report. */
class StrayErrors {
  #first: Error | undefined
  /** Existing listeners, removed meanwhile: a progress bar would stop at each of these errors. */
  readonly #others = STRAY_EVENTS.map(name => ({ name, listeners: process.rawListeners(name) as Listener[] }))
  readonly #add = (thrown: unknown): void => {
    this.#first ??= new Error(`left an unhandled error: ${String(thrown)}`, { cause: thrown })
  }

  constructor() {
    for (const { name, listeners } of this.#others) for (const one of listeners) process.off(name, one)
    process.on('unhandledRejection', this.#add).on('uncaughtException', this.#add)
  }

  /** Returns the first error since the last call. */
  take(): Error | undefined {
    const first = this.#first
    this.#first = undefined
    return first
  }

  close(): void {
    process.off('unhandledRejection', this.#add).off('uncaughtException', this.#add)
    for (const { name, listeners } of this.#others) for (const one of listeners) process.on(name, one)
  }
}

type Listener = (...args: unknown[]) => void
