import { setTimeout as sleep } from 'node:timers/promises'
import { InvalidArgumentError } from 'commander'

const PER_SECOND = { s: 1, m: 60, h: 3600 } as const

/** Parses a rate into events per second: `50`, `0.5`, `10/s`, `600/m` or `1000/h`. */
export function parseRate(text: string): number {
  const [, count, unit = 's'] = /^(\d+(?:\.\d+)?)(?:\/([smh]))?$/.exec(text) ?? []
  const rate = Number(count) / PER_SECOND[unit as keyof typeof PER_SECOND]
  if (rate > 0 && Number.isFinite(rate)) return rate
  throw new InvalidArgumentError(
    'Use a number of events per second, such as 50 or 0.5, or 10/s, 600/m, 1000/h.',
  )
}

/** Spreads events evenly at a rate. Without a rate nothing waits. */
export class Pace {
  readonly #rate: number | undefined
  readonly #signal: AbortSignal
  readonly #startedAt = performance.now()

  /** `rate`: events per second. `signal` ends every wait. */
  constructor(rate: number | undefined, signal: AbortSignal) {
    this.#rate = rate
    this.#signal = signal
  }

  /** Waits until the event with this number, counted from 0, may begin. */
  async reach(index: number): Promise<void> {
    if (this.#rate === undefined) return
    const ms = this.#startedAt + (index * 1000) / this.#rate - performance.now()
    if (ms > 0) await sleep(ms, undefined, { signal: this.#signal }).catch(() => {})
  }
}
