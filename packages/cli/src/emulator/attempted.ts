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
import { deliveryLine } from './deliveries.ts'

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
  return exitCode
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
