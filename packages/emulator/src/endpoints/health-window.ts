import type { HealthView } from './endpoint-view.ts'

/** Limits beyond which an endpoint is unhealthy. None is published. */
export interface HealthRules {
  readonly windowMs: number
  /** Minimum number of attempts in the window for a warning. */
  readonly minAttempts: number
  /** Lowest share of failures that causes a warning. */
  readonly share: number
}

interface Slice {
  readonly from: number
  attempts: number
  failures: number
}

/** Number of slices in the window, which moves one slice at a time. */
const SLICES = 30

/**
 * Tracks the share of failures in a sliding window. A warning appears when the share is too high. It clears when an
 * attempt is acknowledged and the share is low again, never because of silence.
 */
export class HealthWindow {
  readonly #rules: HealthRules
  readonly #slices: Slice[] = []
  #warning: string | null

  constructor(rules: HealthRules, warning: string | null) {
    this.#rules = rules
    this.#warning = warning
  }

  /** Returns whether the warning has appeared, changed or cleared. */
  record(at: number, failure: string | undefined): boolean {
    const slice = this.#sliceAt(at)
    slice.attempts += 1
    if (failure !== undefined) slice.failures += 1
    const before = this.#warning
    this.#warning = this.#judge(at, failure)
    return (before === null) !== (this.#warning === null)
  }

  view(now: number): HealthView {
    const { attempts, failures } = this.#totals(now)
    return {
      status: this.#warning === null ? 'healthy' : 'warning',
      reason: this.#warning,
      attempts,
      failures,
    }
  }

  get warning(): string | null {
    return this.#warning
  }

  clear(): void {
    this.#slices.length = 0
    this.#warning = null
  }

  #judge(now: number, failure: string | undefined): string | null {
    const { attempts, failures } = this.#totals(now)
    const isHigh = failures / attempts >= this.#rules.share
    if (failure === undefined) return isHigh ? this.#warning : null
    if (!isHigh || (attempts < this.#rules.minAttempts && this.#warning === null)) return this.#warning
    const minutes = Math.round(this.#rules.windowMs / 6000) / 10
    return `${failures} of ${attempts} attempts failed within ${minutes} minutes; the last with ${failure}`
  }

  #totals(now: number): { attempts: number; failures: number } {
    let attempts = 0
    let failures = 0
    for (const slice of this.#slices) {
      if (slice.from <= now - this.#rules.windowMs) continue
      attempts += slice.attempts
      failures += slice.failures
    }
    return { attempts, failures }
  }

  #sliceAt(at: number): Slice {
    const width = this.#rules.windowMs / SLICES
    const last = this.#slices.at(-1)
    if (last !== undefined && at < last.from + width) return last
    const slice = { from: at, attempts: 0, failures: 0 }
    this.#slices.push(slice)
    if (this.#slices.length > SLICES + 1) this.#slices.shift()
    return slice
  }
}
