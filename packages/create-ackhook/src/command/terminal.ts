import type { Readable, Writable } from 'node:stream'

/** Everything outside of the command. */
export interface Terminal {
  readonly input: Readable
  readonly output: Writable
  /** Where errors go. */
  readonly errors: Writable
  /** Whether someone can answer questions. */
  readonly interactive: boolean
  readonly cwd: string
  /** `npm_config_user_agent`, which each package manager sets. */
  readonly userAgent: string | undefined
}
