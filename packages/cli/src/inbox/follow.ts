import { setTimeout as sleep } from 'node:timers/promises'
import type { Inbox } from '@ackhook/core'
import { printable } from '@ackhook/core/spi'
import { describeRedrive, type Follower, type Outcome } from '@ackhook/dashboard/letters'
import type { Terminal } from '../terminal/terminal.ts'

/** Time without any change after which a redrive is not followed further. */
const STALLED_MS = 20_000
const FIRST_LOOK_MS = 50
const LAST_LOOK_MS = 2000

/** What became of redriven events, as far as the command has followed them. */
export interface Followed {
  readonly outcome: Outcome
  /** Why some of them are still waiting. */
  readonly why?: string
}

/**
 * Follows redriven events until each is handled or has failed. Ends earlier on Ctrl-C, and if nothing happens: no process
 * takes events, or handling is paused.
 */
export async function follow(
  follower: Follower,
  inbox: Inbox,
  { stop, progress }: Pick<Terminal, 'stop' | 'progress'>,
): Promise<Followed> {
  const total = follower.open
  const bar = progress(total, `${total} redriven, waiting for their results`)
  let ended = 0
  let changedAt = performance.now()
  let why: string | undefined
  for (let waitMs = FIRST_LOOK_MS; why === undefined; waitMs = Math.min(2 * waitMs, LAST_LOOK_MS)) {
    await follower.look(stop)
    const now = total - follower.outcome.waiting
    if (now > ended) changedAt = performance.now()
    for (; ended < now; ended++) bar.advance()
    if (follower.outcome.waiting === 0) break
    why = stop.aborted ? 'stopped before the end' : await reasonToEnd(inbox, changedAt)
    if (why === undefined) await sleep(waitMs, undefined, { signal: stop }).catch(() => {})
  }
  bar.stop()
  return { outcome: follower.outcome, ...(why !== undefined && { why }) }
}

/** Returns why waiting longer is pointless. */
async function reasonToEnd(inbox: Inbox, changedAt: number): Promise<string | undefined> {
  const { paused } = await inbox.stats()
  if (paused === true) return 'handling is paused: ackhook inbox resume --all'
  const processes = await inbox.processes?.()
  if (processes?.length === 0) return 'no process takes events from this inbox'
  return performance.now() - changedAt > STALLED_MS ? `nothing changed for ${STALLED_MS / 1000} s` : undefined
}

/** The result in the words of the pages, with a line for each kind of error. */
export function linesOfFollowed(changed: number, { outcome, why }: Followed): readonly string[] {
  const isOver = outcome.waiting === 0
  const ending = why === undefined ? '' : ` (${why})`
  const result = describeRedrive({ changed, outcome, isOver })
  return [
    `${isOver ? result : result.replace(/ …$/, '')}${ending}`,
    ...outcome.errors.map(
      ({ group, count, reason }) => `  ${count} × ${printable(reason)} (--group ${group})`,
    ),
  ]
}
