import { signal } from '@preact/signals'

/** Runs one request at a time, and keeps the last one's error. A new request aborts the old one. */
export class Loader {
  readonly error = signal<Error | undefined>(undefined)
  #abort: AbortController | undefined

  get isBusy(): boolean {
    return this.#abort !== undefined
  }

  /** Loads a value, sets `error`, calls `done` with the value, then `settled`. Does nothing more once stopped. */
  run<T>(
    load: (signal: AbortSignal) => Promise<T>,
    done: (value: T) => void,
    settled: () => void = () => {},
  ): void {
    this.stop()
    const abort = new AbortController()
    this.#abort = abort
    const end = (error: Error | undefined, apply: () => void) => {
      if (this.#abort !== abort) return
      this.#abort = undefined
      this.error.value = error
      apply()
      settled()
    }
    load(abort.signal).then(
      value => end(undefined, () => done(value)),
      (cause: unknown) => end(cause instanceof Error ? cause : new Error(String(cause)), () => {}),
    )
  }

  stop(): void {
    this.#abort?.abort()
    this.#abort = undefined
  }
}
