/** Longest wait for the driver: a hanging disk must not keep the process from ending. */
const MAX_MS = 5000
const BUSY = 0
const ENDING = 1

const gates = new Set<ExitGate>()

function closeAll(): void {
  for (const gate of gates) gate.close()
}

/**
 * Keeps a process from ending, through `process.exit()` for example, during a driver call on the other thread: on
 * Node 20, a driver call that returns in a terminated thread aborts the process.
 */
export class ExitGate {
  readonly buffer: SharedArrayBuffer
  readonly #state: Int32Array

  /** `buffer`: passed by the thread, which receives it from the application. */
  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(8)) {
    this.buffer = buffer
    this.#state = new Int32Array(buffer)
  }

  /** Closes the gate when the process ends. Called by the application. */
  watch(): void {
    if (gates.size === 0) process.on('exit', closeAll)
    gates.add(this)
  }

  /** Stops watching. Called by the application once the thread has ended. */
  unwatch(): void {
    gates.delete(this)
    if (gates.size === 0) process.off('exit', closeAll)
  }

  /** Waits until the thread has left the driver, and does not let it in again. */
  close(): void {
    Atomics.store(this.#state, ENDING, 1)
    Atomics.wait(this.#state, BUSY, 1, MAX_MS)
  }

  /** Calls the driver on the thread. Once the gate is closed, waits for the thread's end instead. */
  enter<T>(work: () => T): T {
    Atomics.store(this.#state, BUSY, 1)
    if (Atomics.load(this.#state, ENDING) === 1) {
      this.#leave()
      Atomics.wait(this.#state, ENDING, 1)
    }
    try {
      return work()
    } finally {
      this.#leave()
    }
  }

  #leave(): void {
    Atomics.store(this.#state, BUSY, 0)
    Atomics.notify(this.#state, BUSY)
  }
}
