import type { TappedAttempt } from './tap-receiver.ts'

/** Logs the attempts at one event, and the end of the last one. */
export class AttemptLog {
  readonly #attempts: TappedAttempt[] = []
  #waiting: (() => void)[] = []

  get length(): number {
    return this.#attempts.length
  }

  add(attempt: TappedAttempt): void {
    this.#attempts.push(attempt)
    if (!isLast(attempt)) return
    for (const resolve of this.#waiting) resolve()
    this.#waiting = []
  }

  since(start: number): readonly TappedAttempt[] {
    return this.#attempts.slice(start)
  }

  /** Resolves when an attempt after the first `start` is its delivery's last. */
  finished(start: number): Promise<void> {
    if (this.since(start).some(isLast)) return Promise.resolve()
    return new Promise(resolve => this.#waiting.push(resolve))
  }
}

function isLast({ result }: TappedAttempt): boolean {
  return result.outcome !== 'retry'
}
