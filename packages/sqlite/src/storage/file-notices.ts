import type { Fault } from '../protocol/fault.ts'
import type { FileNotice } from '../protocol/file-notice.ts'
import type { Place } from './open-files.ts'

/** The texts about a file that is not where it was. */

/** For `away`, and for a process that is to open the file again. */
export const GONE: Fault = {
  kind: 'storage',
  message:
    'the file was deleted, moved or replaced while it was open: put it back, or restart this process to use the current file',
}

/** For the moments in which the file is opened again. */
export const LEFT: Fault = { kind: 'storage', message: 'the file is being opened again' }

const LOG_GONE: Fault = {
  kind: 'storage',
  message:
    "the file's log (-wal) or the index of it (-shm) was deleted, moved or replaced while it was open: the log names what becomes of it",
}

const LINKED: Fault = {
  kind: 'storage',
  message:
    'the file got a second name (a hard link), under which another process would use another log: remove that name',
}

/** For a database that the user has opened. */
export const LEFT_BY_USER: Fault = {
  kind: 'storage',
  message: 'the log (-wal) of the file is not in its place any more: close the database and open it again',
}

/** For a process whose log was lost: another process has changed the file since. */
export const LOST: Fault = {
  kind: 'storage',
  isFinal: true,
  message:
    'the log (-wal) of the file was lost, with events that this process had acknowledged: check the file, then restart this process',
}

export const OVERWRITTEN: Fault = {
  kind: 'storage',
  isFinal: true,
  message:
    'a copy was written over the file while it was open: stop every process that has it open, delete its -wal and -shm, copy again, and start them',
}

export function faultOfPlace(place: Place): Fault {
  if (place === 'log-gone') return LOG_GONE
  if (place === 'overwritten') return OVERWRITTEN
  return place === 'linked' ? LINKED : GONE
}

function unfinished(events: number | undefined): string {
  if (events === undefined) return 'an unknown number of unfinished events'
  return events === 1 ? '1 unfinished event' : `${events} unfinished events`
}

function line(notice: Omit<FileNotice, 'events'>, events?: number): FileNotice {
  return events === undefined ? notice : { ...notice, events }
}

export const BACK = (path: string): FileNotice => ({
  level: 'info',
  code: 'inbox_file_back',
  message: `'${path}' is in its place again: deliveries are accepted.`,
})

export function awayNotice(path: string, events: number | undefined): FileNotice {
  const message = `Nothing is at '${path}' any more: the file was deleted or moved, or its volume is gone. Deliveries get 503. The file that this process has open has ${unfinished(events)}, including dead letters. They are handled as long as this process lives, and are lost with it if the file was deleted. If it was moved, put it back with its -wal and -shm. If it was deleted, let this process handle them before you restart it.`
  return line({ level: 'error', code: 'inbox_file_lost', message }, events)
}

type Elsewhere = Exclude<Place, 'here' | 'away' | 'log-gone'>

export function placeNotice(place: Elsewhere, path: string, events: number | undefined): FileNotice {
  return line(
    { level: 'error', code: 'inbox_file_lost', message: PLACES[place](path, unfinished(events)) },
    events,
  )
}

const PLACES: Readonly<Record<Elsewhere, (path: string, events: string) => string>> = {
  linked: path =>
    `'${path}' got a second name (a hard link). A process that opens it by that name uses another log, and the two damage the file. Nothing is written to it, and deliveries get 503, until that name is removed.`,
  overwritten: (path, events) =>
    `A copy was written over '${path}' while this process had it open: of ${events}, including dead letters, those that the copy does not have are lost. Nothing more is written to it, no handler begins, and deliveries get 503. Its -wal belongs to what it had before, and would damage the copy: stop every process that has the file open, delete its -wal and -shm, copy again, and start them.`,
  another: (path, events) =>
    `Another file is at '${path}', or only a part of the file, its -wal and its -shm was moved. Nothing is written there, no handler begins, and deliveries get 503. The file that this process had open has ${events}, including dead letters: those that the current file does not have are lost unless you put that file back with its -wal and -shm. To use the current file, stop every process that has the old one open, delete a -wal and -shm that came with the old one, and start them again.`,
}

export function logGoneNotice(path: string, events: number | undefined): FileNotice {
  const message = `The log of '${path}' (-wal) or its index (-shm) was deleted, moved, replaced or cut while this process had it open. Deliveries get 503. The log could not be written into the file, because another process has the file open, or may have changed it since: of ${unfinished(events)}, including dead letters, those that only the log has are not stored. The next line tells whether they are lost.`
  return line({ level: 'error', code: 'inbox_file_lost', message }, events)
}

export function savedNotice(path: string, events: number | undefined, isReopened: boolean): FileNotice {
  const then = isReopened
    ? 'The file is opened again.'
    : 'Nothing more is written to it: close the database and open it again, or restart this process.'
  const message = `The log of '${path}' (-wal) or its index (-shm) was deleted, moved or replaced while this process had it open. All that the log had was written into the file, which has ${unfinished(events)}, including dead letters: nothing is lost. ${then}`
  return line({ level: 'warn', code: 'inbox_log_saved', message }, events)
}

export function savedElsewhereNotice(path: string): FileNotice {
  return {
    level: 'warn',
    code: 'inbox_log_saved',
    message: `'${path}' has the newest event that this process had acknowledged: another process has written the log into it, and nothing is lost. The file is opened again.`,
  }
}

export function lostNotice(path: string, events: number | undefined): FileNotice {
  const message = `Acknowledged events are lost: the log of '${path}' (-wal) was deleted, replaced or cut while this process had it open, and the file does not have the newest event that this process had acknowledged. Of ${unfinished(events)}, including dead letters, those that only the log had are gone. Deliveries get 503 until this process is restarted. Before that, see whether the file is the right one; the platform may still have the events.`
  return line({ level: 'error', code: 'events_lost', message }, events)
}
