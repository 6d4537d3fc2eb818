import { relative } from 'node:path'
import type { Duration } from '@ackhook/core'
import { printable } from '@ackhook/core/spi'
import { type ContractFlags, contractOf } from '../command/shared-options.ts'
import { type CapturedRequest, eventOf } from '../delivery/captured-request.ts'
import type { DeliveryFolder } from '../delivery/delivery-file.ts'
import { diagnose, type Finding } from '../doctor/diagnose.ts'
import type { NamedSecret } from '../secrets/resolve-secrets.ts'
import { createPaint, excerpt, wrap } from '../terminal/text.ts'

/** Flags that decide how a delivery is examined. */
export interface ExamineFlags extends ContractFlags {
  readonly save?: string
  readonly tolerance: Duration
}

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
  /** Path of the saved delivery; `null` if the folder of unverified ones is full. */
  readonly saved?: string | null
}

export function describeArrival(arrival: Arrival, colors: boolean, columns?: number): string[] {
  const paint = createPaint(colors)
  const { verified, method, url, bytes, code = '' } = arrival
  const [type = 'no event type', id = 'no id'] = [arrival.type, arrival.id].map(text => text && excerpt(text))
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
    `${mark} ${paint.dim(time)} ${paint.bold(type)}  ${id}  ${verdict}${forwarded}`,
    paint.dim(`  ${excerpt(`${method} ${url}`)}  ${bytes} bytes`),
  ]
  // Without a reply, they are part of the first line.
  for (const hint of forwardError === undefined ? hints : []) lines.push(wrap(hint, '  ', columns))
  for (const finding of arrival.findings) lines.push(wrap(printable(finding.text), '  ', columns))
  if (arrival.saved === null) lines.push(paint.warn(`  not saved: ${FULL}`))
  else if (arrival.saved !== undefined) lines.push(paint.dim(`  saved as ${arrival.saved}`))
  return lines
}

const FULL = 'the folder of unverified deliveries is full. Delete what you do not need'

function noReply(error: string | undefined, hints: readonly string[]): string {
  return error === undefined ? '' : `, no reply (${printable(error)}). ${hints.join(' ')}`.trimEnd()
}

/** Where `--save` puts deliveries. */
export interface SavePlace {
  readonly folder: DeliveryFolder
  readonly cwd: string
}

/** Verifies a request, and saves it if `--save` is set. */
export async function examine(
  request: CapturedRequest,
  secrets: readonly NamedSecret[],
  flags: ExamineFlags,
  place: SavePlace | undefined,
): Promise<Arrival> {
  const { receivedAt, method, url, body } = request
  const { field: fields } = flags
  const verdict = await judge(request, secrets, flags)
  // Without a secret, anyone may have sent it.
  const saved = place?.folder.save(request, verdict.verified === true)
  return {
    at: receivedAt,
    method,
    url,
    ...eventOf(body, fields),
    bytes: body.length,
    ...verdict,
    ...(place !== undefined && { saved: saved === undefined ? null : relative(place.cwd, saved) }),
  }
}

async function judge(
  request: CapturedRequest,
  secrets: readonly NamedSecret[],
  flags: ExamineFlags,
): Promise<Pick<Arrival, 'verified' | 'code' | 'findings'>> {
  if (secrets.length === 0) return { verified: undefined, findings: [] }
  const { verified, code, findings } = await diagnose(request, diagnoseOptions(secrets, flags))
  // During a rotation, a receiver with all of these secrets accepts a signature under any of them.
  const byAnother = findings.length === 1 && findings[0]?.cause === 'secret-other'
  return { verified: verified || byAnother, code, findings }
}

/** Refuses a secret that every receiver would refuse at the start, not at the first delivery. */
export async function probeSecrets(secrets: readonly NamedSecret[], flags: ExamineFlags): Promise<void> {
  if (secrets.length === 0) return
  const empty = { method: 'POST', url: '/', headers: [], body: new Uint8Array(), receivedAt: 0 }
  await diagnose(empty, diagnoseOptions(secrets, flags))
}

function diagnoseOptions(secrets: readonly NamedSecret[], flags: ExamineFlags) {
  return { secrets, contract: contractOf(flags), tolerance: flags.tolerance }
}
