import { platform } from '#platform'
import type { Verdict } from '../inbox.ts'
import { isPromise, type MaybePromise } from '../maybe-promise.ts'
import type { Entry } from './entry.ts'
import type { ReadyQueue } from './ready-queue.ts'

export interface PumpParts {
  readonly queue: ReadyQueue
  /** Attempts that run at one time. */
  readonly concurrency: number
  /** One attempt. Neither throws nor rejects. */
  readonly run: (entry: Entry) => MaybePromise<Verdict>
  readonly apply: (verdict: Verdict, entry: Entry) => void
}

/** Decides when attempts start. */
export interface Pump {
  /** Attempts that are running. */
  readonly active: number
  /** Lets an entry run: for the first time, or because a retry is due. */
  push(entry: Entry): void
  /** The entry will not be pushed again. */
  settle(entry: Entry): void
}

const TURN_MS = 5

export function createPump({ queue, concurrency, run, apply }: PumpParts): Pump {
  let active = 0
  let scheduled = false
  let turnEndsAt = 0

  /** After the replies of this turn: work must not delay an acknowledgement that is being written. */
  function schedule(): void {
    if (scheduled) return
    scheduled = true
    platform.defer(() => {
      scheduled = false
      turnEndsAt = performance.now() + TURN_MS
      startReady()
    })
  }

  /** Starts what may run. Handlers that need no waiting could go on for ever: after a while, I/O gets its turn. */
  function startReady(): void {
    while (active < concurrency) {
      if (performance.now() > turnEndsAt) {
        schedule()
        return
      }
      const entry = queue.shift()
      if (entry === undefined) return
      if (entry.phase === 'held') start(entry)
    }
  }

  function start(entry: Entry): void {
    active++
    const verdict = run(entry)
    if (!isPromise(verdict)) end(verdict, entry)
    else
      void verdict.then(known => {
        end(known, entry)
        startReady()
      })
  }

  function end(verdict: Verdict, entry: Entry): void {
    active--
    apply(verdict, entry)
  }

  return {
    get active() {
      return active
    },
    push(entry) {
      queue.push(entry)
      schedule()
    },
    settle(entry) {
      if (queue.settle(entry)) schedule()
    },
  }
}
