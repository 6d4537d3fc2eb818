import type { WebhookEvent } from '@ackhook/core'
import { wholeNumber } from '@ackhook/core/spi'
import { type Random, seededRandom } from '../lib/seeded-random.ts'
import { AttemptSender, type AttemptSeries } from './attempt-sender.ts'
import { EndpointHealth, type HealthReport } from './endpoint-health.ts'
import { MAX_COUNT } from './faults.ts'
import { nextAttemptAt } from './next-attempt.ts'
import { runConcurrently } from './run-concurrently.ts'
import type { SendAttempt } from './send-attempt.ts'
import { type ResolvedSender, resolveSender, type SenderOptions } from './sender-options.ts'
import { shuffleSome } from './shuffle-some.ts'
import { createWait, type Wait } from './wait.ts'

type AnyEvent = WebhookEvent<string, object>

/** Result for one event. */
export interface SendReport {
  readonly event: AnyEvent
  readonly outcome: 'acknowledged' | 'undelivered'
  /** Attempts in the order in which they ended, including those of duplicates. */
  readonly attempts: readonly SendAttempt[]
}

/** Options of {@link Sender.sendAll}. */
export interface SendAllOptions {
  /** Events sent at a time. Default 1: in order. */
  readonly concurrency?: number | undefined
}

/** Sends events as the platform does, and keeps the undelivered ones. */
export interface Sender {
  /** Resolves when the event is acknowledged or out of attempts. Never rejects. */
  send(event: AnyEvent): Promise<SendReport>
  /** Resolves to reports in the order of `events`. Rejects with `ConfigurationError` for a wrong `concurrency`. */
  sendAll(events: readonly AnyEvent[], options?: SendAllOptions): Promise<readonly SendReport[]>
  /** Events that ran out of attempts, oldest first. */
  undelivered(): readonly SendReport[]
  /** Sends all undelivered events again, as a replay from the dashboard would. */
  replayUndelivered(): Promise<readonly SendReport[]>
  health(): HealthReport
  /** Aborts current attempts. Their events count as undelivered. */
  close(): void
}

/**
 * Creates a sender that behaves as the platform's contract describes: one event per POST, at least once, with retries
 * after timeouts and any reply but 2xx, exponential backoff and a bounded window. Throws `ConfigurationError` for a
 * wrong option.
 *
 * @example
 * const sender = createSender({ url, secret, faults: { duplicate: 0.1, lostReply: 0.05 }, seed: 42 })
 * const reports = await sender.sendAll(events, { concurrency: 8 })
 */
export function createSender(options: SenderOptions): Sender {
  return new EventSender(resolveSender(options))
}

class EventSender implements Sender {
  readonly #options: ResolvedSender
  readonly #closing = new AbortController()
  readonly #wait: Wait
  readonly #health: EndpointHealth
  readonly #attempts: AttemptSender
  /** Undelivered events by id. */
  readonly #undelivered = new Map<string, SendReport>()
  /** Number of events sent. Each one draws its faults from its own seed. */
  #sent = 0

  constructor(options: ResolvedSender) {
    this.#options = options
    this.#wait = createWait(options.clock)
    this.#health = new EndpointHealth(options.unhealthyAfter)
    this.#attempts = new AttemptSender(options, this.#health, this.#closing.signal)
  }

  async send(event: AnyEvent): Promise<SendReport> {
    const { faults, seed } = this.#options
    // One random stream per event, so that concurrent events cannot change each other's faults.
    const random = seededRandom(seed + 0x9e37 * ++this.#sent)
    const twice = random() < faults.concurrentDuplicate
    const again = random() < faults.duplicate
    const attempts: SendAttempt[] = []
    const outcomes = await Promise.all(
      Array.from({ length: twice ? 2 : 1 }, () =>
        this.#deliver(event, attempts, seededRandom(random() * 2 ** 32)),
      ),
    )
    const acknowledged = outcomes.includes(true)
    if (acknowledged && again) await this.#deliver(event, attempts, random)
    const report: SendReport = { event, outcome: acknowledged ? 'acknowledged' : 'undelivered', attempts }
    if (acknowledged) this.#undelivered.delete(event.id)
    else this.#undelivered.set(event.id, report)
    return report
  }

  async sendAll(
    events: readonly AnyEvent[],
    { concurrency = 1 }: SendAllOptions = {},
  ): Promise<readonly SendReport[]> {
    wholeNumber('concurrency', concurrency, 1, MAX_COUNT)
    const { faults, seed } = this.#options
    const order = shuffleSome([...events.keys()], faults.disorder, seededRandom(seed))
    const reports = new Map<number, SendReport>()
    await runConcurrently(order, concurrency, async index => {
      reports.set(index, await this.send(events[index] as AnyEvent))
    })
    return events.map((_, index) => reports.get(index) as SendReport)
  }

  undelivered(): readonly SendReport[] {
    return [...this.#undelivered.values()]
  }

  replayUndelivered(): Promise<readonly SendReport[]> {
    return this.sendAll(this.undelivered().map(report => report.event))
  }

  health(): HealthReport {
    return this.#health.report()
  }

  close(): void {
    this.#closing.abort()
  }

  /** Attempts the event until it is acknowledged. Resolves to whether it was. */
  async #deliver(event: AnyEvent, made: SendAttempt[], random: Random): Promise<boolean> {
    const { faults, clock } = this.#options
    const { signal } = this.#closing
    const series: AttemptSeries = { event, random, startedAt: clock() }
    try {
      if (faults.delayMs > 0) await this.#wait(random() * faults.delayMs, signal)
      for (let number = 1; ; number++) {
        const attempt = await this.#attempts.send(series, number)
        made.push(attempt)
        if (attempt.acknowledged) return true
        const failed = { ...attempt, startedAt: series.startedAt, now: clock() }
        const next = nextAttemptAt(failed, random, this.#options, faults.delayMs)
        if (next === undefined) break
        await this.#wait(next - clock(), signal)
      }
    } catch (error) {
      if (!signal.aborted) throw error
    }
    return false
  }
}
