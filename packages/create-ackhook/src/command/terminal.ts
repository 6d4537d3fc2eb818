import type { Readable, Writable } from 'node:stream'

/** The command's environment. */
export interface Terminal {
  readonly input: Readable
  readonly output: Writable
  /** Stream for errors. */
  readonly errors: Writable
  /** True if someone can answer questions. */
  readonly interactive: boolean
  readonly cwd: string
  /** `npm_config_user_agent`, which each package manager sets. */
  readonly userAgent: string | undefined
}
