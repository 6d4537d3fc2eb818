import { type ProcessingPolicy, Rounds } from '@ackhook/core/spi'
import type { Engine } from '../engine/engine.ts'

const PERIOD_MS = 60_000
const DEADLINE_MS = 30_000

type Policy = Pick<ProcessingPolicy, 'observe' | 'logger' | 'rounds'>

/**
 * Reports server settings under which events may be lost, at the start and when they change: an operator may change
 * them at any time, and a failover may lead to a server with other settings.
 */
export class NoticeWatch {
  readonly #engine: Pick<Engine, 'notices'>
  readonly #policy: Policy
  readonly #rounds: Rounds<void>
  #known: ReadonlySet<string> = new Set()

  constructor(engine: Pick<Engine, 'notices'>, policy: Policy) {
    this.#engine = engine
    this.#policy = policy
    this.#rounds = new Rounds({
      name: 'notices',
      board: policy.rounds,
      deadlineMs: DEADLINE_MS,
      run: ({ signal }) => this.#look(signal),
      succeeded: () => PERIOD_MS,
      // Managed servers may forbid the query, and deliveries tell an outage.
      failed: () => PERIOD_MS,
    })
  }

  start(): void {
    this.#rounds.next(0)
  }

  stop(): void {
    void this.#rounds.end()
  }

  async #look(signal: AbortSignal): Promise<void> {
    const notices = await this.#engine.notices()
    signal.throwIfAborted()
    for (const notice of notices) {
      if (this.#known.has(notice.message)) continue
      this.#policy.observe({ kind: 'notice', ...notice })
      this.#policy.logger.warn({ code: notice.code }, notice.message)
    }
    this.#known = new Set(notices.map(({ message }) => message))
  }
}
