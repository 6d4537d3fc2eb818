import type { DeliveryView } from '@ackhook/emulator'
import { createPaint } from '../terminal/paint.ts'
import { printable } from '../terminal/printable.ts'

/** What a list shows of a delivery. */
export function deliveryRow(delivery: DeliveryView): readonly string[] {
  const { id, createdAt, type, event, state, attempts } = delivery
  const count = attempts === 1 ? '1 attempt' : `${attempts} attempts`
  return [createdAt, state, printable(type), printable(event), id, count, lastAnswer(delivery)]
}

/** What the receiver answered last. */
export function lastAnswer({ lastStatus, lastCode, lastError, attempts, reason }: DeliveryView): string {
  if (lastStatus !== null) return printable([lastStatus, lastCode ?? ''].join(' ').trim())
  if (lastError !== null) return printable(`no reply: ${lastError}`)
  return attempts === 0 && reason !== null ? printable(reason) : ''
}

/** One line about a delivery of which an attempt has ended. */
export function deliveryLine(delivery: DeliveryView, colours: boolean): string {
  const { good, bad, warn, dim } = createPaint(colours)
  const { state, type, event, id, attempts, nextAttemptAt } = delivery
  const mark = state === 'acknowledged' ? good('✓') : state === 'pending' ? warn('…') : bad('✗')
  const next = state === 'pending' && nextAttemptAt !== null ? `, again at ${nextAttemptAt}` : ''
  const tries = attempts > 1 ? ` (attempt ${attempts})` : ''
  const answer = lastAnswer(delivery)
  const ending = state === 'undelivered' ? `${answer}, undelivered` : answer || state
  return `${mark} ${printable(type)}  ${printable(event)}  ${ending}${tries}${next}  ${dim(id)}`
}
