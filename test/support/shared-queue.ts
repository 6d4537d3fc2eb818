import type { Delivery, Inbox } from '@ackhook/core'
import { shareHandlers } from '@ackhook/core/sharing'
import {
  ACCEPT_RESULTS,
  createAttempt,
  type InboxProcess,
  type PresenceStore,
  type ProcessEvent,
  type ProcessingPolicy,
  type PublishedHandlers,
} from '@ackhook/core/spi'

const MAX_POLL_MS = 30

interface Row {
  readonly delivery: Delivery
  state: 'waiting' | 'running' | 'done' | 'dead'
  /** Monotonic milliseconds. */
  dueAt: number
  attempts: number
  routingToken: number
  error?: unknown
}

/**
 * A queue in memory that several receivers of one test share, each with its own inbox, as processes share a file or a
 * server. It has only what that needs: no leases, no retention.
 */
export class SharedQueue {
  readonly rows = new Map<string, Row>()
  readonly #published = new Map<string, { own: PublishedHandlers; at: number }>()
  /** Makes the board fail, as if its server were gone. */
  isDown = false
  /** Makes publishing fail for processes with this pattern, as if they could not connect. */
  refused: string | undefined
  reads = 0
  /** Number of event loop turns that a reply takes, like a server's or a thread's. */
  turns = 0
  #seed = 1

  readonly #board: PresenceStore = {
    publish: async own => {
      if (this.isDown || own.patterns.includes(this.refused!)) throw new Error('the board is down')
      this.#published.set(own.id, { own, at: performance.now() })
    },
    read: async () => {
      if (this.isDown) throw new Error('the board is down')
      this.reads++
      for (let turn = 0; turn < this.turns; turn++) await new Promise(setImmediate)
      return { processes: this.processes(), postponed: this.postponed }
    },
  }

  get postponed(): number {
    return [...this.rows.values()].filter(
      ({ state, routingToken }) => state === 'waiting' && routingToken > 0,
    ).length
  }

  processes(): readonly InboxProcess[] {
    const now = performance.now()
    return [...this.#published.values()]
      .map(({ own, at }) => ({ ...own, seenMs: now - at }))
      .filter(({ seenMs, keepMs }) => seenMs <= keepMs)
  }

  idsIn(state: Row['state']): string[] {
    return [...this.rows.values()].filter(row => row.state === state).map(row => row.delivery.id)
  }

  createInbox(): Inbox {
    let timer: ReturnType<typeof setTimeout> | undefined
    let active = 0
    // Irregular, so that each inbox is sometimes first.
    const poll = (run: ProcessEvent, policy: ProcessingPolicy): void => {
      timer = setTimeout(() => {
        poll(run, policy)
        void take(run, policy)
      }, this.#random(MAX_POLL_MS))
    }
    const take = async (run: ProcessEvent, policy: ProcessingPolicy): Promise<void> => {
      const now = performance.now()
      const row = [...this.rows.values()].find(one => one.state === 'waiting' && one.dueAt <= now)
      if (row === undefined || active >= policy.concurrency) return
      active++
      row.state = 'running'
      await this.#attempt(row, run)
      active--
    }
    return {
      durable: true,
      location: "queue 'shared'",
      accept: delivery => {
        if (this.rows.has(delivery.key)) return ACCEPT_RESULTS.duplicate
        const { event: _, ...kept } = delivery
        this.rows.set(delivery.key, {
          delivery: kept,
          state: 'waiting',
          dueAt: 0,
          attempts: 0,
          routingToken: 0,
        })
        return ACCEPT_RESULTS.accepted
      },
      start: async (run, policy) => {
        await shareHandlers(this.#board, policy)
        if (policy.concurrency > 0) poll(run, policy)
      },
      close: async () => {
        clearTimeout(timer)
        return { lost: 0 }
      },
      stats: () => ({
        pending: this.idsIn('waiting').length,
        active: this.idsIn('running').length,
        dead: this.idsIn('dead').length,
        oldestPendingMs: 0,
      }),
      forget: () => false,
      deadLetters: { list: () => [], get: () => undefined, redrive: () => false, discard: () => false },
      processes: () => this.processes(),
    }
  }

  /** Returns pseudorandom numbers that are the same in each run of a test. */
  #random(most: number): number {
    this.#seed = (this.#seed * 1_103_515_245 + 12_345) % 2 ** 31
    return 1 + ((this.#seed >> 8) % most)
  }

  async #attempt(row: Row, run: ProcessEvent): Promise<void> {
    const result = await run(row.delivery, createAttempt(row.attempts + 1, 'run', row.routingToken))
    if (result.outcome === 'completed') row.state = 'done'
    else if (result.outcome === 'dead') Object.assign(row, { state: 'dead', error: result.error })
    else {
      row.state = 'waiting'
      row.dueAt = performance.now() + result.delayMs
      if (result.outcome === 'postponed') row.routingToken = result.routingToken
      else row.attempts++
    }
  }
}
