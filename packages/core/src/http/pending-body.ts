import type { Refusal } from '../errors/refusal.ts'

/** A body that is still on its way. `await` takes it like a promise, the receiver without one. perf: note 24. */
export abstract class PendingBody implements PromiseLike<Uint8Array | Refusal> {
  #promise: Promise<Uint8Array | Refusal> | undefined

  /** Calls `done` once, after this call has returned. Not to be called twice, nor beside `then`. */
  abstract deliver(done: (body: Uint8Array | Refusal) => void): void

  // biome-ignore lint/suspicious/noThenProperty: it is what makes it awaitable
  then<Result = Uint8Array | Refusal, Failed = never>(
    fulfilled?: ((body: Uint8Array | Refusal) => Result | PromiseLike<Result>) | null,
    rejected?: ((reason: unknown) => Failed | PromiseLike<Failed>) | null,
  ): Promise<Result | Failed> {
    this.#promise ??= new Promise(resolve => this.deliver(resolve))
    return this.#promise.then(fulfilled, rejected)
  }
}
