import { signal } from '@preact/signals'

/** One request at a time, with what became of the last one. A newer request aborts an older one. */
export class Loader {
  readonly error = signal<Error | undefined>(undefined)
  #abort: AbortController | undefined

  get isBusy(): boolean {
    return this.#abort !== undefined
  }

  /** Sets `error`, calls `done` with what `load` answers, and then `settled`. None of it once it is stopped. */
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
