import { statSync } from 'node:fs'

/** The file that a path names now, whatever it names later. */
export interface FileIdentity {
  /** Whether the path still names it: a file that was deleted or replaced goes on working until it is closed. */
  isInPlace(): boolean
}

export function fileIdentity(path: string): FileIdentity {
  const opened = idOf(path)
  // Where it could not be asked, nothing is known, and nothing is refused for it.
  return { isInPlace: () => opened === undefined || idOf(path) === opened }
}

function idOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return undefined
  }
}
