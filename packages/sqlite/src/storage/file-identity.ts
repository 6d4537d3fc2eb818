import { existsSync, statSync } from 'node:fs'
import type { Fault } from '../protocol/fault.ts'

/** File that a path named when this was created. */
export interface FileIdentity {
  /** Returns whether the path still names the file: a deleted or replaced file keeps working until it is closed. */
  isInPlace(): boolean
  /** Returns whether no file is at the path now. */
  isMissing(): boolean
}

/** Later processes would not see an event stored now. Events already in the file go on while it is open. */
export const GONE: Fault = {
  kind: 'storage',
  message:
    'the file was deleted, moved or replaced while it was open: put it back, or restart this process to use the current file',
}

export function fileIdentity(path: string): FileIdentity {
  const opened = idOf(path)
  // Refuses nothing if the file system reported no identity.
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
