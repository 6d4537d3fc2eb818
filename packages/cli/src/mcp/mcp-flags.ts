import type { InboxFlags } from '../inbox/inbox-flags.ts'
import { redact } from './redact.ts'

export interface McpFlags extends InboxFlags {
  /** Address of the emulator. */
  readonly at?: string
  readonly allowWrite?: boolean
  readonly bodies?: boolean
}

/** Returns a result as the flags let an agent see it. */
export function shownBy({ bodies }: McpFlags, result: unknown): unknown {
  return bodies ? result : redact(result)
}
