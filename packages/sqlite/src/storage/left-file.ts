import { FaultError } from '../protocol/fault.ts'
import type { FileNotice, LeftFile } from '../protocol/file-notice.ts'
import type { OpenFile } from './driver/driver.ts'
import { LOST, lostNotice, OVERWRITTEN, savedElsewhereNotice } from './file-notices.ts'

const FIND = `SELECT 1 FROM ackhook_events WHERE key = ?1
  UNION ALL SELECT 1 FROM ackhook_ids WHERE key = ?1 LIMIT 1`

/**
 * Decides whether a process may open a file again whose log was gone: if the file has the newest event that the process
 * has acknowledged, it has all of them, since a file is only ever a beginning of what was committed. Throws otherwise.
 */
export function refuseLostEvents(
  openFile: OpenFile,
  path: string,
  { log, newest, events }: LeftFile,
  tell: (notice: FileNotice) => void,
): void {
  if (log === 'overwritten') throw new FaultError(OVERWRITTEN)
  if (log === 'saved' || newest === undefined) return
  if (hasEvent(openFile, path, newest)) tell(savedElsewhereNotice(path))
  else {
    tell(lostNotice(path, events))
    throw new FaultError(LOST)
  }
}

/** Only reads: nobody may write before it is known whose the file is. */
function hasEvent(openFile: OpenFile, path: string, key: string): boolean {
  const database = openFile(path, { readOnly: true })
  try {
    return database.prepare(FIND).get(key) !== undefined
  } catch {
    return false
  } finally {
    database.close()
  }
}

/**
 * Locks a file so that a connection that closes meanwhile neither writes its log into the file nor deletes the log that
 * is in the place of it. Returns a function that ends this. Locks nothing that another process has locked.
 */
export function keepFile(openFile: OpenFile, path: string): () => void {
  try {
    const database = openFile(path, { readOnly: true })
    try {
      // Prepares no statement: one that is still alive would keep the file open.
      database.exec('SELECT 1 FROM sqlite_schema LIMIT 1')
    } catch {
      // An index of another log: the lock holds all the same.
    }
    return () => void database.close()
  } catch {
    return () => {}
  }
}
