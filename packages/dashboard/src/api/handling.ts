import type { ResolvedDashboard } from '../options/options.ts'
import type { Handling } from '../protocol/protocol.ts'

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
