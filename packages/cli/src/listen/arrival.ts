import { printable } from '@ackhook/core/spi'
import type { Finding } from '../doctor/diagnose.ts'
import { createPaint } from '../terminal/paint.ts'
import { wrap } from '../terminal/wrap.ts'

/** A delivery, as `listen` shows it. */
export interface Arrival {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly method: string
  readonly url: string
  readonly type?: string
  readonly id?: string
  readonly bytes: number
  /** `undefined` without a secret. */
  readonly verified: boolean | undefined
  readonly code?: string
  readonly findings: readonly Finding[]
  /** Status of the app's reply; 502 if there was none. */
  readonly forwarded?: number
  /** Reason why the app did not reply, such as `ECONNREFUSED`. */
  readonly forwardError?: string
  /** What to do about a reply that acknowledges nothing, or about its absence. */
  readonly hints?: readonly string[]
  /** Path of the saved delivery. */
  readonly saved?: string
}

export function describeArrival(arrival: Arrival, colors: boolean, columns?: number): string[] {
  const paint = createPaint(colors)
  const { verified, method, url, type = 'no event type', id = 'no id', bytes, code = '' } = arrival
  const mark = verified === undefined ? paint.warn('?') : verified ? paint.good('✓') : paint.bad('✗')
  const verdict =
    verified === undefined
      ? paint.warn('not verified')
      : verified
        ? paint.good('verified')
        : paint.bad(`refused: ${code}`)
  const time = new Date(arrival.at).toISOString().slice(11, 23)
  const { forwardError, hints = [] } = arrival
  const forwarded =
    arrival.forwarded === undefined ? '' : `  forwarded: ${arrival.forwarded}${noReply(forwardError, hints)}`
  const lines = [
    `${mark} ${paint.dim(time)} ${paint.bold(printable(type))}  ${printable(id)}  ${verdict}${forwarded}`,
    paint.dim(`  ${printable(`${method} ${url}`)}  ${bytes} bytes`),
  ]
  // Without a reply, they are part of the first line.
  for (const hint of forwardError === undefined ? hints : []) lines.push(wrap(hint, '  ', columns))
  for (const finding of arrival.findings) lines.push(wrap(printable(finding.text), '  ', columns))
  if (arrival.saved !== undefined) lines.push(paint.dim(`  saved as ${arrival.saved}`))
  return lines
}

function noReply(error: string | undefined, hints: readonly string[]): string {
  return error === undefined ? '' : `, no reply (${printable(error)}). ${hints.join(' ')}`.trimEnd()
}
