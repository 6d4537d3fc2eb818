import type { ProcessingPolicy } from '@ackhook/core/spi'
import type { Engine } from '../engine/engine.ts'

const PERIOD_MS = 60_000

/**
 * Reports server settings under which events may be lost, at the start and when they change: an operator may change
 * them at any time, and a failover may lead to a server with other settings.
 */
export class NoticeWatch {
  readonly #engine: Pick<Engine, 'notices'>
  readonly #policy: Pick<ProcessingPolicy, 'observe' | 'logger'>
  #known: ReadonlySet<string> = new Set()
  #timer: ReturnType<typeof setTimeout> | undefined
  #stopped = false

  constructor(engine: Pick<Engine, 'notices'>, policy: Pick<ProcessingPolicy, 'observe' | 'logger'>) {
    this.#engine = engine
    this.#policy = policy
  }

  start(): void {
    void this.#look()
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  async #look(): Promise<void> {
    // Managed servers may forbid the query.
    const notices = await this.#engine.notices().catch(() => undefined)
    if (this.#stopped) return
    for (const notice of notices ?? []) {
      if (this.#known.has(notice.message)) continue
      this.#policy.observe({ kind: 'notice', ...notice })
      this.#policy.logger.warn({ code: notice.code }, notice.message)
    }
    if (notices !== undefined) this.#known = new Set(notices.map(({ message }) => message))
    this.#timer = setTimeout(() => void this.#look(), PERIOD_MS)
    this.#timer.unref()
  }
}
