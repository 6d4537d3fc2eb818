import { platform } from '#platform'
import { isPromise } from '../../lib/maybe-promise.ts'
import type { Verdict } from '../inbox.ts'
import type { Entry } from './entry.ts'
import { createReadyQueue } from './ready-queue.ts'
import type { Pump, PumpParts } from './scheduler.ts'

const TURN_MS = 5

/** Queues what finds no place, and starts it in the turn in which another attempt has ended. */
export function createQueueingScheduler({ policy, run, apply }: PumpParts): Pump {
  const queue = createReadyQueue(policy)
  const { concurrency } = policy
  let active = 0
  let scheduled = false
  let turnEndsAt = 0

  /** After the replies of this turn: work must not delay an acknowledgement that is being written. */
  function schedule(): void {
    if (scheduled) return
    scheduled = true
    platform.afterReplies(() => {
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

  function push(entry: Entry): void {
    entry.retryTimer = undefined
    queue.push(entry)
    schedule()
  }

  return {
    get active() {
      return active
    },
    push,
    later(entry, delayMs) {
      entry.retryTimer = setTimeout(push, delayMs, entry)
    },
    settle(entry) {
      if (queue.settle(entry)) schedule()
    },
  }
}
