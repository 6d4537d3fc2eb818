import { existsSync, statSync } from 'node:fs'
import type { Fault } from '../protocol/fault.ts'

/** The file that a path names now, whatever it names later. */
export interface FileIdentity {
  /** Returns whether the path still names it: a file that was deleted or replaced goes on working until it is closed. */
  isInPlace(): boolean
  /** Returns whether the path names nothing now. */
  isMissing(): boolean
}

/** An event stored now would be invisible to later processes. Events already in the file go on while it is open. */
export const GONE: Fault = {
  kind: 'storage',
  message:
    'the file was deleted, moved or replaced while it was open: put it back, or restart this process to work with what is there now',
}

export function fileIdentity(path: string): FileIdentity {
  const opened = idOf(path)
  // Refuses nothing if the file system gave no answer.
  return {
    isInPlace: () => opened === undefined || idOf(path) === opened,
    isMissing: () => opened !== undefined && !existsSync(path),
  }
}

function idOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return undefined
  }
}
