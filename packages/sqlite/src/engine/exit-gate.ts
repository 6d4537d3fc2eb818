/** A disk that no longer answers must not keep the process from ending. */
const MAX_MS = 5000
const BUSY = 0
const ENDING = 1

const gates = new Set<ExitGate>()

function closeAll(): void {
  for (const gate of gates) gate.close()
}

/**
 * Keeps the end of a process, `process.exit()` for one, from falling into a call of the driver on the other thread: on
 * Node 20 a driver that returns from a call in a terminated thread aborts the process.
 */
export class ExitGate {
  readonly buffer: SharedArrayBuffer
  readonly #state: Int32Array

  /** The thread gives the buffer that the application made. */
  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(8)) {
    this.buffer = buffer
    this.#state = new Int32Array(buffer)
  }

  /** Watches, from the application, for the end of the process, and closes the gate then. */
  watch(): void {
    if (gates.size === 0) process.on('exit', closeAll)
    gates.add(this)
  }

  /** Stops watching, from the application, once the thread has ended. */
  unwatch(): void {
    gates.delete(this)
    if (gates.size === 0) process.off('exit', closeAll)
  }

  /** Waits until the thread has left the driver, and does not let it in again. */
  close(): void {
    Atomics.store(this.#state, ENDING, 1)
    Atomics.wait(this.#state, BUSY, 1, MAX_MS)
  }

  /** Calls the driver, from the thread. Once the gate is closed, waits for the thread's end instead. */
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
