import { pausedType } from '@ackhook/core/spi'
import type { ResolvedDashboard } from '../options/options.ts'
import { ApiProblem, type Handling, type HandlingRequest } from '../protocol/protocol.ts'

/** `GET api/handling` */
export async function readHandling({ inbox }: ResolvedDashboard): Promise<Handling> {
  const { handling, cannotPause = 'upgrade the package of the inbox' } = inbox
  if (handling === undefined) return { paused: [], cannotPause }
  const { cannotPauseTypes } = handling
  return {
    paused: await handling.paused(),
    ...(cannotPauseTypes !== undefined && { cannotPauseTypes }),
  }
}

/** Pauses or resumes handling. The notice names the person, in addition to the one of each process that sees the pause. */
export async function changeHandling(
  parts: ResolvedDashboard,
  { action, type }: HandlingRequest,
  by: string | undefined,
): Promise<Handling> {
  const { handling } = parts.inbox
  const { cannotPause, cannotPauseTypes } = await readHandling(parts)
  const reason = cannotPause ?? (type === undefined ? undefined : cannotPauseTypes)
  if (handling === undefined || reason !== undefined)
    throw new ApiProblem(400, 'unsupported', `Handling cannot be paused here: ${reason}`)
  const hasChanged = await handling[action](type)
  if (hasChanged) {
    const who = by === undefined ? 'Somebody' : by
    const what = type === undefined ? 'all events' : `'${type}' events`
    const done = action === 'pause' ? 'paused' : 'resumed'
    const message = `${who} ${done} the handling of ${what} on the dashboard.`
    parts.observe({ kind: 'notice', code: `handling_${done}`, message })
  }
  return readHandling(parts)
}

/** Validates the body of a request. Throws a 400 that names the mistake. */
export function parseHandling(body: unknown): HandlingRequest {
  const { action, type } = Object(body) as Partial<Record<string, unknown>>
  if (action !== 'pause' && action !== 'resume')
    throw new ApiProblem(400, 'invalid', "'action' must be pause or resume.")
  const one = pausedType(type)
  return { action, ...(one !== undefined && { type: one }) }
}
