import { discard, redrive } from './change-letters.ts'
import { erase } from './erase.ts'
import { forget } from './forget.ts'
import { pause, resume } from './pauses.ts'
import { groups, list } from './read-letters.ts'
import { show } from './show.ts'
import { stats } from './stats.ts'
import type { Verb } from './verb.ts'

/** What an operator can do with an inbox, in the order in which surfaces offer it. */
export const VERBS: readonly Verb[] = [
  list,
  groups,
  show,
  redrive,
  discard,
  forget,
  pause,
  resume,
  stats,
  erase,
]
