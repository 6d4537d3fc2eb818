import { type Fault, FaultError } from '../protocol/fault.ts'
import type { FileNotice, LeftFile } from '../protocol/file-notice.ts'
import type { SqliteDatabase } from './driver/database.ts'
import {
  awayNotice,
  BACK,
  faultOfPlace,
  LEFT,
  LEFT_BY_USER,
  logGoneNotice,
  lostNotice,
  placeNotice,
  savedNotice,
} from './file-notices.ts'
import { OpenFiles, type Place } from './open-files.ts'

/** Called with each line for the log, and with what is left when the connection must be replaced. */
export interface FileReport {
  notice(notice: FileNotice): void
  /** Absent where the connection is the user's. */
  leave?(left: LeftFile): void
}

/** Interrupts a transaction before its first write: it would reach another file, or none that anybody finds. */
export class NotHereError extends FaultError {}

/** Waits while others read or write; shorter than the time after which a delivery is refused. */
const SAVE_WAIT_MS = 1000

/**
 * Lets nothing be acknowledged, and nothing be written, that the next process would not find. Writes the log back into
 * the file when that is safe.
 */
export class FileGuard {
  readonly #database: SqliteDatabase
  readonly #files: OpenFiles
  readonly #report: FileReport
  readonly #countEvents: () => number
  #place: Place = 'here'
  #left: LeftFile | undefined
  #newest: string | undefined

  /** `path`: as the user wrote it; absent for a database that the user has opened. */
  constructor(
    database: SqliteDatabase,
    path: string | undefined,
    report: FileReport,
    countEvents: () => number,
  ) {
    this.#database = database
    this.#files = new OpenFiles(database, path)
    this.#report = report
    this.#countEvents = countEvents
  }

  /** True once the connection must not be used any more. */
  get hasLeft(): boolean {
    return this.#left !== undefined
  }

  /** Reason why nothing can be stored now. */
  get fault(): Fault {
    if (!this.hasLeft) return faultOfPlace(this.#place)
    return this.#report.leave === undefined ? LEFT_BY_USER : LEFT
  }

  /** Called for the newest acknowledged event. */
  remember(newest: string): void {
    this.#newest = newest
  }

  /** False where nothing may be written, and where what is read may be another file's. */
  get mayWrite(): boolean {
    const place = this.#left === undefined ? this.#files.place() : 'another'
    return place === 'here' || place === 'away'
  }

  /** Called at the start of a transaction, which keeps others from writing meanwhile. */
  enter(hasArrivals: boolean): void {
    if (this.#left === undefined && this.#place === 'here' && this.#files.isLogHere) return
    const place = this.#left === undefined ? this.#files.place() : 'another'
    // A log that is shorter than before is judged by `check`.
    if (place === 'away' && !hasArrivals) return
    throw new NotHereError(faultOfPlace(place))
  }

  /** Called after each transaction, before anything is acknowledged. */
  check(): Place {
    if (this.#left !== undefined) return 'another'
    // Only `watch` tries again to save the log: each try may wait for others.
    return this.#place === 'log-gone' ? 'log-gone' : this.#see(this.#files.check())
  }

  /** Called every second, also while nothing happens. */
  watch(): void {
    if (this.#left === undefined) this.#see(this.#files.watch())
  }

  #see(place: Place): Place {
    if (place === 'log-gone') return this.#saveLog()
    if (place !== this.#place) this.#tell(place)
    this.#place = place
    // The connection would write its log over the copy when it is closed.
    if (place === 'overwritten') this.#leave({ newest: undefined, events: undefined, log: 'overwritten' })
    return place
  }

  #tell(place: Place): void {
    const { path } = this.#files
    if (place === 'here') this.#report.notice(BACK(path))
    else if (place === 'away') this.#report.notice(awayNotice(path, this.#count()))
    else if (place !== 'log-gone') this.#report.notice(placeNotice(place, path, this.#count()))
  }

  /** Returns `'here'` if all that was committed is in the file. The connection is left then. */
  #saveLog(): Place {
    const { path } = this.#files
    const events = this.#count()
    const isOpened = this.#files.isOpenedElsewhere()
    if (isOpened !== 'yes' && this.#writeBack(isOpened === 'no')) {
      this.#leave({ newest: this.#newest, events, log: 'saved' })
      this.#report.notice(savedNotice(path, events, this.#report.leave !== undefined))
      return 'here'
    }
    if (this.#place !== 'log-gone') this.#report.notice(logGoneNotice(path, events))
    this.#place = 'log-gone'
    if (isOpened !== 'yes') return 'log-gone'
    this.#leave({ newest: this.#newest, events, log: 'gone' })
    if (this.#report.leave === undefined) this.#report.notice(lostNotice(path, events))
    return 'log-gone'
  }

  #leave(left: LeftFile): void {
    this.#left = left
    this.#report.leave?.(left)
  }

  /** `mayShare`: all others that have the file open share the log, so that they need not leave first. */
  #writeBack(mayShare: boolean): boolean {
    try {
      if (!this.#lockOut() && !mayShare) return false
      const row = this.#database.prepare('PRAGMA wal_checkpoint(FULL)').get() as Checkpoint
      // The user's connection must not keep the application's other processes from the file.
      if (this.#report.leave === undefined) this.#unlock()
      return row.busy === 0 && row.log === row.checkpointed && this.#files.hasNoOtherLog()
    } catch {
      return false
    }
  }

  /** Keeps every other process from opening the file. Returns `false` if one has it open. */
  #lockOut(): boolean {
    try {
      this.#database.exec('PRAGMA busy_timeout = 0')
      this.#database.exec('PRAGMA locking_mode = EXCLUSIVE')
      this.#database.exec('BEGIN IMMEDIATE; COMMIT')
      return true
    } catch {
      this.#database.exec('PRAGMA locking_mode = NORMAL')
      return false
    } finally {
      this.#database.exec(`PRAGMA busy_timeout = ${SAVE_WAIT_MS}`)
    }
  }

  /** The lock is given back at the end of a transaction. */
  #unlock(): void {
    this.#database.exec('PRAGMA locking_mode = NORMAL; BEGIN IMMEDIATE; COMMIT')
  }

  #count(): number | undefined {
    try {
      return this.#countEvents()
    } catch {
      return undefined
    }
  }
}

interface Checkpoint {
  readonly busy: number
  readonly log: number
  readonly checkpointed: number
}
