import { setTimeout as sleep } from 'node:timers/promises'
import type { Duration } from '@ackhook/core'
import { durationMs, printable } from '@ackhook/core/spi'
import type { DeliveryDetail, DeliveryView } from '@ackhook/emulator'
import type { PostResult } from '@ackhook/testing'
import { EXIT } from '../command/exit-codes.ts'
import { hintsFor, messagesOf } from '../delivery/hints-for.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { createPaint } from '../terminal/text.ts'
import { clockAhead, type EmulatorClient, NO_ENDPOINT } from './client.ts'
import { deliveryLine, lastAnswer } from './deliveries.ts'

const POLL_MS = 50
const MAX_MS = 86_400_000
/** Maximum number of deliveries that are printed. Beyond it they are counted. */
const SHOWN = 20
const OPTIONS_OF_START =
  'Here, --timestamp-unit, --header and --scheme are options of ackhook emulator start.'

/** Returns the deliveries after their next attempts. Gives up once none has got a reply for `timeout`. */
export async function attempted(
  deliveries: readonly DeliveryView[],
  timeout: Duration,
  emulator: EmulatorClient,
  { stop, progress }: Terminal,
): Promise<readonly DeliveryView[]> {
  const timeoutMs = durationMs(timeout, { option: 'timeout', minMs: 1, maxMs: MAX_MS })
  let deadline = performance.now() + timeoutMs
  const bar = progress(deliveries.length, `Waiting for ${deliveries.length} replies`)
  const seen: DeliveryView[] = []
  try {
    for (let delivery of deliveries) {
      const before = delivery.attempts
      while (isWaiting(delivery, before) && performance.now() < deadline && !stop.aborted) {
        delivery = await emulator.get<DeliveryDetail>(`/deliveries/${delivery.id}`)
        if (isWaiting(delivery, before)) await sleep(POLL_MS, undefined, { signal: stop }).catch(() => {})
      }
      if (!isWaiting(delivery, before)) deadline = performance.now() + timeoutMs
      seen.push(delivery)
      bar.advance()
    }
  } finally {
    bar.stop()
  }
  return seen
}

/** Deliveries on a page of replies. */
const PER_PAGE = 200

/** Returns a batch's deliveries after their next attempts. Gives up once none has got a reply for `timeout`. */
export async function repliesTo(
  batch: string,
  total: number,
  timeout: Duration,
  emulator: EmulatorClient,
  { stop, progress }: Terminal,
): Promise<readonly DeliveryView[]> {
  const timeoutMs = durationMs(timeout, { option: 'timeout', minMs: 1, maxMs: MAX_MS })
  let deadline = performance.now() + timeoutMs
  const bar = progress(total, `Waiting for ${total} replies`)
  const seen: DeliveryView[] = []
  let shown = 0
  try {
    for (let after: string | null | undefined; after !== null; ) {
      const query = { batch, order: 'oldest', limit: PER_PAGE, after }
      const page: Page = await emulator.get('/deliveries', query)
      const replied = seen.length + page.deliveries.filter(one => !isWaiting(one, 0)).length
      if (replied > shown) deadline = performance.now() + timeoutMs
      for (; shown < replied; shown++) bar.advance()
      const isDone = replied === seen.length + page.deliveries.length
      if (isDone || performance.now() > deadline || stop.aborted) {
        seen.push(...page.deliveries)
        after = page.next
      } else await sleep(POLL_MS, undefined, { signal: stop }).catch(() => {})
    }
  } finally {
    bar.stop()
  }
  return seen
}

interface Page {
  readonly deliveries: readonly DeliveryView[]
  readonly next: string | null
}

/** Prints how the replay of many ended, with equal failures in one line. Exit code 0 if each was acknowledged. */
export function reportBatch(
  deliveries: readonly DeliveryView[],
  matched: number,
  json: boolean | undefined,
  terminal: Terminal,
): number {
  const { out, colors } = terminal
  const acknowledged = deliveries.filter(one => one.state === 'acknowledged').length
  const others = deliveries.filter(one => one.state !== 'acknowledged')
  const counts = new Map<string, number>()
  for (const answer of others.map(answerOf)) counts.set(answer, (counts.get(answer) ?? 0) + 1)
  const replies = [...counts].sort(([, a], [, b]) => b - a).map(([reply, count]) => ({ reply, count }))
  const isGood = deliveries.length >= matched && others.length === 0
  if (json) {
    out(JSON.stringify({ matched, replayed: deliveries.length, acknowledged, others: replies }))
    return isGood ? EXIT.ok : EXIT.failed
  }
  const { good, bad } = createPaint(colors)
  out(`${isGood ? good('✓') : bad('✗')} ${deliveries.length} replayed, ${acknowledged} acknowledged`)
  for (const { reply, count } of replies.slice(0, SHOWN)) out(`  ${count} × ${reply}`)
  explain(others, terminal)
  return isGood ? EXIT.ok : EXIT.failed
}

function answerOf(delivery: DeliveryView): string {
  return lastAnswer(delivery) || 'no reply yet'
}

function isWaiting({ state, attempts, underWay }: DeliveryView, before: number): boolean {
  return state === 'pending' && (attempts === before || underWay)
}

/** Prints the outcome of deliveries. Exit code 0 if each was acknowledged. */
export function reportDeliveries(
  deliveries: readonly DeliveryView[],
  json: boolean | undefined,
  terminal: Terminal,
): number {
  const { out, colors } = terminal
  const acknowledged = deliveries.filter(one => one.state === 'acknowledged').length
  const exitCode = acknowledged === deliveries.length ? EXIT.ok : EXIT.failed
  if (json) {
    out(JSON.stringify({ sent: deliveries.length, acknowledged, deliveries: deliveries.map(summary) }))
    return exitCode
  }
  const others = deliveries.length - acknowledged
  if (deliveries.length > SHOWN) {
    const { good, bad } = createPaint(colors)
    out(`${others === 0 ? good('✓') : bad('✗')} ${deliveries.length} sent, ${acknowledged} acknowledged`)
  }
  const shown =
    deliveries.length > SHOWN ? deliveries.filter(one => one.state !== 'acknowledged') : deliveries
  for (const delivery of shown.slice(0, SHOWN)) out(deliveryLine(delivery, terminal))
  explain(deliveries, terminal)
  return exitCode
}

/** Prints what can be done about refusals, and what the app says. */
function explain(deliveries: readonly DeliveryView[], { out }: Terminal): void {
  // No hint for a 503: it requests a later attempt, which the emulator will make.
  const answered = deliveries.filter(one => one.lastStatus !== 503)
  const refused = answered.filter(one => one.lastCode === 'unauthorized')
  const ahead = refused.map(one => clockAhead(one.startedAt)).find(text => text !== undefined)
  if (ahead !== undefined) out(`  ${ahead}`)
  for (const message of messagesOf(deliveries.map(toReply))) out(`  your app says: ${printable(message)}`)
  const unexplained = ahead === undefined ? answered : answered.filter(one => !refused.includes(one))
  for (const hint of hintsFor(unexplained.map(toReply), 'emulator')) out(`  ${hint}`)
  if (refused.length > 0 && ahead === undefined) out(`  ${OPTIONS_OF_START}`)
  if (deliveries.some(one => one.reason?.endsWith('no endpoint'))) out(`  ${NO_ENDPOINT}`)
}

function summary(delivery: DeliveryView): object {
  const { id, event, type, state, attempts, lastStatus, lastCode, lastError } = delivery
  const [message] = messagesOf([toReply(delivery)])
  return {
    ...{ id, event, type, state, attempts, status: lastStatus, code: lastCode, error: lastError },
    ...(message !== undefined && { message }),
    hints: hintsFor([toReply(delivery)], 'emulator'),
  }
}

/** Returns the last reply. Its body is known only in a delivery with its log. */
function toReply(
  delivery: DeliveryView | DeliveryDetail,
): Pick<PostResult, 'status' | 'code' | 'body' | 'error'> {
  const { lastStatus, lastCode, lastError } = delivery
  const body = 'log' in delivery ? delivery.log.at(-1)?.replyBody.text : undefined
  return {
    ...(lastStatus !== null && { status: lastStatus }),
    ...(lastCode !== null && { code: lastCode }),
    ...(lastError !== null && { error: lastError }),
    ...(body !== undefined && { body }),
  }
}
