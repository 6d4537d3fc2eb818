import { statSync } from 'node:fs'

/** The file that a path names now, whatever it names later. */
export interface FileIdentity {
  /** Whether the path still names it: a file that was deleted or replaced goes on working until it is closed. */
  isInPlace(): boolean
}

export function fileIdentity(path: string): FileIdentity {
  const opened = idOf(path)
  return { isInPlace: () => idOf(path) === opened }
}

function idOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}
