/** The exit codes of the process. Documented in `--help` and in the README. */
export const EXIT = {
  /** Everything was acknowledged, verified or found, and every case passed. */
  ok: 0,
  /** Something was refused, did not verify or was not found, or a case failed. */
  failed: 1,
  /** The command could not start: a wrong option, an unreadable file, no secret. */
  usage: 2,
} as const
