import { EmulatorError } from '../errors/emulator-error.ts'

/** Largest share of time spent on checks, whatever the size of the log. */
const SHARE = 0.1

/** Waits for conditions. They are checked after changes, at most once a turn. */
export class Waiters {
  readonly #waiting = new Set<() => boolean>()
  /** Rejects each wait. */
  readonly #closing = new AbortController()
  #isScheduled = false
  /** Duration of the last check. */
  #lastMs = 0

  /** Resolves to whether `isMet` held before `timeoutMs` passed, in real time. Rejects if `isMet` throws. */
  async wait(isMet: () => boolean, timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    if (isMet()) return true
    if (signal?.aborted) return false
    const closing = this.#closing.signal
    return new Promise((resolve, reject) => {
      const end = (isOver: boolean) => {
        closing.removeEventListener('abort', onClose)
        this.#waiting.delete(judge)
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        resolve(isOver)
      }
      const judge = () => {
        try {
          if (!isMet()) return false
          end(true)
        } catch (error) {
          reject(error)
          end(false)
        }
        return true
      }
      const onAbort = () => end(false)
      const onClose = () => {
        reject(new EmulatorError('closed', 'the emulator was closed'))
        end(false)
      }
      const timer = setTimeout(() => end(false), timeoutMs)
      signal?.addEventListener('abort', onAbort)
      closing.addEventListener('abort', onClose)
      this.#waiting.add(judge)
    })
  }

  close(): void {
    this.#closing.abort()
  }

  changed(): void {
    if (this.#waiting.size === 0 || this.#isScheduled) return
    this.#isScheduled = true
    const pauseMs = this.#lastMs / SHARE
    if (pauseMs < 1) setImmediate(() => this.#judge())
    else setTimeout(() => this.#judge(), pauseMs).unref()
  }

  #judge(): void {
    this.#isScheduled = false
    const startedAt = performance.now()
    for (const judge of [...this.#waiting]) judge()
    this.#lastMs = performance.now() - startedAt
  }
}
