import type { WebhookEvent } from '@ackhook/core'
import { type Random, seededRandom } from '../seeded-random.ts'
import { type Attempt, createAttempts } from './attempts.ts'
import { createHealth, type EndpointHealth } from './health.ts'
import { runInParallel } from './run-in-parallel.ts'
import { type ResolvedSender, resolveSender, type SenderOptions } from './sender-options.ts'
import { shuffleSome } from './shuffle-some.ts'
import { createWait } from './waiting.ts'
import { wholeNumber } from './whole-number.ts'

type AnyEvent = WebhookEvent<string, object>

/** How one event fared. */
export interface SendReport {
  readonly event: AnyEvent
  readonly outcome: 'acknowledged' | 'undelivered'
  /** In the order in which they ended, those of duplicates included. */
  readonly attempts: readonly Attempt[]
}

/** Options of {@link Sender.sendAll}. */
export interface SendAllOptions {
  /** Events under way at one time. Default 1: in order. */
  readonly concurrency?: number
}

/** Sends events as the platform does, and keeps what was not delivered. */
export interface Sender {
  /** Resolves when the event is acknowledged or its attempts are used up. Never rejects. */
  send(event: AnyEvent): Promise<SendReport>
  /** Reports in the order of `events`. Rejects with `ConfigurationError` for a wrong `concurrency`. */
  sendAll(events: readonly AnyEvent[], options?: SendAllOptions): Promise<readonly SendReport[]>
  /** Events whose attempts are used up, the oldest first: nothing is silently dropped. */
  undelivered(): readonly SendReport[]
  /** Sends everything undelivered again, as a replay from the dashboard would. */
  replayUndelivered(): Promise<readonly SendReport[]>
  health(): EndpointHealth
  /** Cuts short what is under way; those events are undelivered. */
  close(): void
}

/**
 * A sender that behaves as the platform's contract describes it: one event a POST, at least once, retries on
 * everything but 2xx and on timeouts, with exponential backoff, in a bounded window. Throws
 * `ConfigurationError` for a wrong option.
 *
 * @example
 * const sender = createSender({ url, secret, faults: { duplicate: 0.1, lostReply: 0.05 }, seed: 42 })
 * const reports = await sender.sendAll(events, { concurrency: 8 })
 */
export function createSender(options: SenderOptions): Sender {
  const resolved = resolveSender(options)
  const { faults, seed } = resolved
  const closing = new AbortController()
  const wait = createWait(resolved.clock)
  const health = createHealth(resolved.unhealthyAfter)
  const attempts = createAttempts(resolved, { health, signal: closing.signal })
  const undelivered = new Map<string, SendReport>()
  let sent = 0

  async function send(event: AnyEvent): Promise<SendReport> {
    // A stream of its own for each event: what happens at the same time cannot change its faults.
    const random = seededRandom(seed + 0x9e37 * ++sent)
    const twice = random() < faults.concurrentDuplicate
    const again = random() < faults.duplicate
    const made: Attempt[] = []
    const outcomes = await Promise.all(
      Array.from({ length: twice ? 2 : 1 }, () => deliver(event, made, seededRandom(random() * 2 ** 32))),
    )
    const acknowledged = outcomes.includes(true)
    if (acknowledged && again) await deliver(event, made, random)
    const report: SendReport = {
      event,
      outcome: acknowledged ? 'acknowledged' : 'undelivered',
      attempts: made,
    }
    if (acknowledged) undelivered.delete(event.id)
    else undelivered.set(event.id, report)
    return report
  }

  async function deliver(event: AnyEvent, made: Attempt[], random: Random): Promise<boolean> {
    const course = attempts.begin(event, random)
    try {
      for (let number = 1; number <= resolved.attempts; number++) {
        if (faults.delayMs > 0) await wait(random() * faults.delayMs, closing.signal)
        const attempt = await course.make(number)
        made.push(attempt)
        if (attempt.acknowledged) return true
        const delayMs = delayAfter(attempt, random, resolved)
        const late = resolved.clock() + delayMs - course.startedAt > resolved.retryWindowMs
        if (number === resolved.attempts || late) break
        await wait(delayMs, closing.signal)
      }
    } catch (error) {
      if (!closing.signal.aborted) throw error
    }
    return false
  }

  async function sendAll(
    events: readonly AnyEvent[],
    { concurrency = 1 }: SendAllOptions = {},
  ): Promise<readonly SendReport[]> {
    wholeNumber('concurrency', concurrency)
    const order = shuffleSome([...events.keys()], faults.disorder, seededRandom(seed))
    const reports = new Map<number, SendReport>()
    await runInParallel(order, concurrency, async index => {
      reports.set(index, await send(events[index] as AnyEvent))
    })
    return events.map((_, index) => reports.get(index) as SendReport)
  }

  return {
    send,
    sendAll,
    undelivered: () => [...undelivered.values()],
    replayUndelivered: () => sendAll([...undelivered.values()].map(report => report.event)),
    health: health.now,
    close: () => closing.abort(),
  }
}

/** Exponential backoff, its upper half random; never sooner than the reply asked for. */
function delayAfter(attempt: Attempt, random: Random, sender: ResolvedSender): number {
  const full = Math.min(sender.maxDelayMs, sender.minDelayMs * sender.factor ** (attempt.number - 1))
  const backoff = full / 2 + (random() * full) / 2
  const asked = sender.honourRetryAfter ? (attempt.retryAfterMs ?? 0) : 0
  return Math.max(backoff, asked)
}
