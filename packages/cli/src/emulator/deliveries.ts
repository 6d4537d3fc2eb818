import { printable } from '@ackhook/core/spi'
import type { DeliveryView } from '@ackhook/emulator'
import type { Terminal } from '../terminal/terminal.ts'
import { createPaint, type GridCell, type GridColumn, grid, type Paint, timeText } from '../terminal/text.ts'
import type { EmulatorClient } from './client.ts'

/** Returns a delivery's id unchanged, and for an event's id that of its latest delivery. */
export async function toDeliveryId(id: string, emulator: EmulatorClient): Promise<string> {
  const query = { event: id, limit: 1 }
  const { deliveries } = await emulator.get<{ deliveries: readonly DeliveryView[] }>('/deliveries', query)
  return encodeURIComponent(deliveries[0]?.id ?? id)
}

/** Formats deliveries as a list: in a terminal one row each that fits, elsewhere with all ids. */
export function deliveryLines(deliveries: readonly DeliveryView[], terminal: Place): readonly string[] {
  const { colors, columns } = terminal
  const paint = createPaint(colors)
  const isTerminal = columns !== undefined
  const hasWords = (columns ?? WIDE) >= WIDE && deliveries.some(one => wordsOf(one) !== '')
  const heads: readonly GridColumn[] = [
    { title: 'STATE' },
    { title: 'TYPE', least: 10, yields: 2 },
    // Whole as long as possible, because one copies it for show.
    { title: 'EVENT', least: 12, yields: 3 },
    { title: 'LAST REPLY', least: 10, cutsEnd: true },
    { title: 'TRY', isNumber: true },
    ...(hasWords ? [{ title: 'WHAT HAPPENED', least: 13, yields: 1, cutsEnd: true }] : []),
    { title: 'CREATED' },
    // In a terminal, the event's id is enough: show accepts it as well.
    ...(isTerminal ? [] : [{ title: 'DELIVERY' }]),
  ]
  const rows = deliveries.map((one): readonly GridCell[] => [
    [one.state, paintOf(one, paint)],
    printable(one.type),
    printable(one.event),
    lastAnswer(one),
    String(one.attempts),
    ...(hasWords ? [wordsOf(one)] : []),
    [timeText(one.createdAt, terminal), paint.dim],
    ...(isTerminal ? [] : [one.id]),
  ])
  return grid(heads, rows, terminal)
}

type Place = Pick<Terminal, 'colors' | 'columns'>

/** Columns from which a list has room for what happened. */
const WIDE = 100

/** Returns in words what a delivery is, and what happened to it, besides the number of attempts. */
function wordsOf({ kind, marks, to }: DeliveryView): string {
  const faults = marks.filter(mark => mark !== 'retried')
  const words = [kind === 'event' ? '' : kind, ...faults, to === null ? '' : 'elsewhere']
  return words
    .filter(word => word !== '')
    .join(', ')
    .replaceAll('_', ' ')
}

function paintOf({ state }: DeliveryView, { good, bad, warn, dim }: Paint): (text: string) => string {
  if (state === 'acknowledged') return good
  if (state === 'undelivered') return bad
  return state === 'pending' ? warn : dim
}

/** Formats the receiver's last reply. */
export function lastAnswer({ lastStatus, lastCode, lastError, attempts, reason }: DeliveryView): string {
  if (lastStatus !== null) return printable([lastStatus, lastCode ?? ''].join(' ').trim())
  if (lastError !== null) return printable(`no reply: ${lastError}`)
  return attempts === 0 && reason !== null ? printable(reason) : ''
}

/** Formats a delivery after an attempt, in one line if it fits. */
export function deliveryLine(delivery: DeliveryView, terminal: Place): string {
  const { colors, columns = Number.POSITIVE_INFINITY } = terminal
  const { good, bad, warn, dim } = createPaint(colors)
  const { state, type, event, id, attempts, nextAttemptAt } = delivery
  const mark = state === 'acknowledged' ? good('✓') : state === 'pending' ? warn('…') : bad('✗')
  const tries = attempts > 1 ? ` (attempt ${attempts})` : ''
  const answer = lastAnswer(delivery)
  const ending = state === 'undelivered' ? `${answer}, undelivered` : answer || state
  const rest = ` ${printable(type)}  ${printable(event)}  ${ending}${tries}`
  const isRetried = state === 'pending' && attempts > 0 && nextAttemptAt !== null
  const again = isRetried ? `, again at ${timeText(nextAttemptAt, terminal)}` : ''
  const length = 1 + rest.length + again.length
  // The delivery's id may be omitted: show accepts the event's id as well.
  if (length + 2 + id.length <= columns) return `${mark}${rest}${again}  ${dim(id)}`
  return length <= columns ? mark + rest + again : `${mark}${rest}${again.replace(', ', ',\n  ')}`
}

/** Formats a number of deliveries: `1 delivery`, `250 deliveries`. */
export function counted(count: number): string {
  return count === 1 ? '1 delivery' : `${count} deliveries`
}
