import type { Progress, Verb } from '@ackhook/dashboard/verbs'
import type { Progress as Bar, Terminal } from '../terminal/terminal.ts'

/** Shows how far a verb is: a bar while it changes events, and another while it follows them. */
export function progressBar(
  { words }: Verb,
  { progress: start }: Pick<Terminal, 'progress'>,
): { show(progress: Progress): void; stop(): void } {
  let bar: Bar | undefined
  let shown: Progress['state'] | undefined
  let at = 0
  return {
    show({ state, total, changed, missed, fates }) {
      const isFollowing = state === 'following'
      const most = isFollowing ? changed : total
      if (most === undefined) return
      if (shown !== state) {
        bar?.stop()
        const label = isFollowing ? 'waiting for their results' : `${most} to be ${words.done}`
        bar = start(most, isFollowing ? `${most} ${words.done}, ${label}` : label)
        shown = state
        at = 0
      }
      const now = isFollowing ? changed - (fates?.waiting ?? 0) : changed + missed
      for (; at < now; at++) bar?.advance()
    },
    stop: () => bar?.stop(),
  }
}
