import { printable } from '@ackhook/core/spi'
import type { DeliveryView } from '@ackhook/emulator'
import { createPaint } from '../../terminal/paint.ts'
import type { Terminal } from '../../terminal/terminal.ts'

/** Formats a delivery for a list. */
export function deliveryRow(delivery: DeliveryView): readonly string[] {
  const { id, createdAt, type, event, state, attempts } = delivery
  const count = attempts === 1 ? '1 attempt' : `${attempts} attempts`
  return [state, printable(type), printable(event), lastAnswer(delivery), createdAt, id, count]
}

/** Formats the receiver's last reply. */
export function lastAnswer({ lastStatus, lastCode, lastError, attempts, reason }: DeliveryView): string {
  if (lastStatus !== null) return printable([lastStatus, lastCode ?? ''].join(' ').trim())
  if (lastError !== null) return printable(`no reply: ${lastError}`)
  return attempts === 0 && reason !== null ? printable(reason) : ''
}

/** Formats a delivery after an attempt, in one line if it fits. */
export function deliveryLine(
  delivery: DeliveryView,
  { colors, columns = Number.POSITIVE_INFINITY }: Pick<Terminal, 'colors' | 'columns'>,
): string {
  const { good, bad, warn, dim } = createPaint(colors)
  const { state, type, event, id, attempts, nextAttemptAt } = delivery
  const mark = state === 'acknowledged' ? good('✓') : state === 'pending' ? warn('…') : bad('✗')
  const tries = attempts > 1 ? ` (attempt ${attempts})` : ''
  const answer = lastAnswer(delivery)
  const ending = state === 'undelivered' ? `${answer}, undelivered` : answer || state
  const rest = ` ${printable(type)}  ${printable(event)}  ${ending}${tries}`
  const isRetried = state === 'pending' && attempts > 0 && nextAttemptAt !== null
  const again = isRetried ? `, again at ${nextAttemptAt}` : ''
  const length = 1 + rest.length + again.length
  // The delivery's id may be omitted: show accepts the event's id as well.
  if (length + 2 + id.length <= columns) return `${mark}${rest}${again}  ${dim(id)}`
  return length <= columns ? mark + rest + again : `${mark}${rest}${again.replace(', ', ',\n  ')}`
}
