import { wait } from './wait.ts'

const RATE = /^(\d+(?:\.\d+)?)(?:\/([smh]))?$/
const PER_SECOND = { s: 1, m: 60, h: 3600 } as const

/** What a rate must be, after the name of its argument. */
export const RATE_RULE = 'must be a number of events per second, such as 50 or 0.5, or 10/s, 600/m, 1000/h'

/** Reads events per second from `50`, `0.5`, `10/s`, `600/m` or `1000/h`. `undefined` for any other text. */
export function readRate(text: string): number | undefined {
  const [, count, unit = 's'] = RATE.exec(text) ?? []
  const rate = Number(count) / PER_SECOND[unit as keyof typeof PER_SECOND]
  return rate > 0 && Number.isFinite(rate) ? rate : undefined
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
    if (ms > 0) await wait(ms, this.#signal)
  }
}
