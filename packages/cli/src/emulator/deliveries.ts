import { printable } from '@ackhook/core/spi'
import type { DeliveryView } from '@ackhook/emulator'
import type { Terminal } from '../terminal/terminal.ts'
import { createPaint } from '../terminal/text.ts'
import type { EmulatorClient } from './client.ts'

/** Returns a delivery's id unchanged, and for an event's id that of its latest delivery. */
export async function toDeliveryId(id: string, emulator: EmulatorClient): Promise<string> {
  const query = { event: id, limit: 1 }
  const { deliveries } = await emulator.get<{ deliveries: readonly DeliveryView[] }>('/deliveries', query)
  return encodeURIComponent(deliveries[0]?.id ?? id)
}

/** Formats a delivery for a list. */
export function deliveryRow(delivery: DeliveryView): readonly string[] {
  const { id, createdAt, type, event, state, attempts } = delivery
  const count = attempts === 1 ? '1 attempt' : `${attempts} attempts`
  return [state, printable(type), printable(event), lastAnswer(delivery), createdAt, id, count]
}

/** Formats the receiver's last reply. */
function lastAnswer({ lastStatus, lastCode, lastError, attempts, reason }: DeliveryView): string {
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

/** Formats a number of deliveries: `1 delivery`, `250 deliveries`. */
export function counted(count: number): string {
  return count === 1 ? '1 delivery' : `${count} deliveries`
}
