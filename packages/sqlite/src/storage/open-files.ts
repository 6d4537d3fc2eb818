import { closeSync, openSync, readFileSync, readSync, realpathSync, statSync } from 'node:fs'
import { FaultError } from '../protocol/fault.ts'
import type { SqliteDatabase, SqliteStatement } from './driver/database.ts'

/**
 * Where an open file is.
 * - `here`: the path still names the file, its log (`-wal`) and the log's index (`-shm`).
 * - `away`: nothing is at the path, so what is written reaches no other file.
 * - `log-gone`: the file is here, but its log or the index is not, or the log was cut: the next process would not find
 *   what the log has.
 * - `linked`: the file has a second name, under which another process would use another log.
 * - `overwritten`: a copy was written over the file, so the log does not belong to what it has.
 * - `another`: another file is at the path, or only a part of the three was moved.
 */
export type Place = 'here' | 'away' | 'log-gone' | 'linked' | 'overwritten' | 'another'

interface Seen {
  readonly id: string
  readonly names: number
  readonly size: number
  readonly changedAt: number
}

/** The three files of one connection, as they were when it was opened. */
export class OpenFiles {
  readonly #checkpoints: SqliteStatement
  readonly #path: string
  /** Name that SQLite uses for the log: symbolic links are resolved. */
  readonly #logName: string
  readonly #indexName: string
  readonly #opened: Seen | undefined
  readonly #log: string | undefined
  readonly #index: string | undefined
  /** The file when it was last seen here. */
  #lastHere: Seen | undefined
  #logSize: number
  readonly #frameBytes: number
  /** Last checkpoint of the log when that was seen. */
  #checkpoint: string

  /** `path`: as the user wrote it; absent for a database that the user has opened. */
  constructor(database: SqliteDatabase, path: string | undefined) {
    const named = nameOf(database)
    this.#checkpoints = database.prepare('PRAGMA wal_checkpoint(NOOP)')
    this.#path = path ?? named
    this.#logName = `${named}-wal`
    this.#indexName = `${named}-shm`
    this.#opened = look(this.#path)
    const log = look(this.#logName)
    this.#log = this.#opened && log?.id
    this.#logSize = log?.size ?? 0
    this.#frameBytes = FRAME_HEADER_BYTES + pageBytesOf(database)
    this.#index = look(this.#indexName)?.id
    this.#lastHere = this.#opened
    this.#checkpoint = this.#lastCheckpoint()
  }

  get path(): string {
    return this.#path
  }

  /** Looks at the log only: once a transaction. The next write would hide that it was cut. */
  get isLogHere(): boolean {
    if (this.#log === undefined) return true
    const log = look(this.#logName)
    return log?.id === this.#log && log.size >= this.#logSize
  }

  /** Looks at the names only: also inside a transaction. Judges nothing if the file system reports no identity. */
  place(): Place {
    return this.#placeOf(look(this.#path), look(this.#logName), this.#isIndexHere())
  }

  /** Looks at the file's size too. Must not be called in a transaction. */
  check(withIndex = false): Place {
    const [file, log] = [look(this.#path), look(this.#logName)]
    // While all is in its place, the index is looked at every second: each look costs as much as a few rows.
    const isQuick = !withIndex && file !== undefined && log?.id === this.#log
    const place = this.#placeOf(file, log, isQuick || this.#isIndexHere())
    if (place !== 'here' || file === undefined) return place
    if (log !== undefined && log.size < this.#logSize && this.#isCut(log)) return 'log-gone'
    const before = this.#lastHere
    if (before !== undefined && file.size < before.size && this.#lastCheckpoint() === this.#checkpoint) {
      // Only a checkpoint after VACUUM makes the file smaller: a copy was written over it.
      return 'overwritten'
    }
    if (file.changedAt !== before?.changedAt || (this.#logSize === 0 && log?.size !== 0)) {
      this.#checkpoint = this.#lastCheckpoint()
    }
    this.#logSize = log?.size ?? 0
    this.#lastHere = file
    return 'here'
  }

  /** Called every second: `check` compares with what it finds. */
  watch(): Place {
    const place = this.check(true)
    if (place === 'here') this.#checkpoint = this.#lastCheckpoint()
    return place
  }

  /**
   * Returns whether another process has opened the file since its log was gone, and may have changed it or stored
   * something in a log of its own. Whoever opens the file creates that log, so without one nobody has.
   */
  isOpenedElsewhere(): 'no' | 'perhaps' | 'yes' {
    const [file, log] = [look(this.#path), look(this.#logName)]
    const isUnchanged = file?.changedAt === this.#lastHere?.changedAt && file?.size === this.#lastHere?.size
    if (log === undefined) {
      // The processes that share the log may have moved it into the file.
      return isUnchanged || this.#lastCheckpoint() !== this.#checkpoint ? 'no' : 'yes'
    }
    if (!isUnchanged) return 'yes'
    if (log.id === this.#log) return isThere(this.#indexName) ? 'yes' : 'no'
    return log.size === 0 ? 'perhaps' : 'yes'
  }

  /** Returns whether nobody has stored anything in another log. */
  hasNoOtherLog(): boolean {
    const log = look(this.#logName)
    return log === undefined || log.id === this.#log || log.size === 0
  }

  /** Returns whether the log is shorter than its index says: only a checkpoint may make it shorter. */
  #isCut({ size }: Seen): boolean {
    const { log } = this.#checkpoints.get() as Checkpoint
    return log > 0 && size < LOG_HEADER_BYTES + log * this.#frameBytes
  }

  #isIndexHere(): boolean {
    return this.#index === undefined || look(this.#indexName)?.id === this.#index
  }

  #placeOf(file: Seen | undefined, log: Seen | undefined, isIndexHere: boolean): Place {
    if (this.#opened === undefined) return 'here'
    const isLogHere = this.#log === undefined || log?.id === this.#log
    if (file === undefined) {
      // All three have gone, or the database alone: nothing that is written now reaches another file.
      const isWhole = isLogHere ? isIndexHere : !isThere(this.#logName, this.#indexName)
      return isWhole ? 'away' : 'another'
    }
    if (file.id !== this.#opened.id) return 'another'
    if (file.names > 1) return 'linked'
    return isLogHere && isIndexHere ? 'here' : 'log-gone'
  }

  /** Returns what changes with each checkpoint: how many frames were moved, and the salts of a log begun anew. */
  #lastCheckpoint(): string {
    try {
      const { checkpointed } = this.#checkpoints.get() as Checkpoint
      return `${checkpointed}:${saltsOf(this.#logName)}`
    } catch {
      return ''
    }
  }
}

/** Frames in the log, and how many of them are in the file. */
interface Checkpoint {
  readonly log: number
  readonly checkpointed: number
}

const LOG_HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24

function pageBytesOf(database: SqliteDatabase): number {
  return (database.prepare('PRAGMA page_size').get() as { readonly page_size: number }).page_size
}

/** Reads the salts of a log. Closing a log releases no lock, as closing the database file would. */
function saltsOf(log: string): string {
  const file = openSync(log, 'r')
  try {
    const salts = Buffer.alloc(8)
    readSync(file, salts, 0, 8, 16)
    return salts.toString('hex')
  } finally {
    closeSync(file)
  }
}

function isThere(...names: readonly string[]): boolean {
  return names.some(name => look(name) !== undefined)
}

function look(path: string): Seen | undefined {
  try {
    const file = statSync(path, { throwIfNoEntry: false })
    // An inode beyond 2^53 is rounded, always to the same number.
    return (
      file && { id: `${file.dev}:${file.ino}`, names: file.nlink, size: file.size, changedAt: file.mtimeMs }
    )
  } catch {
    return undefined
  }
}

/** Returns which file a path names now; `undefined` if none. */
export function identityOf(path: string): string | undefined {
  return look(path)?.id
}

function nameOf(database: SqliteDatabase): string {
  const rows = database.prepare('PRAGMA database_list').all() as {
    readonly name: string
    readonly file: string
  }[]
  return rows.find(({ name }) => name === 'main')?.file ?? ''
}

/** Throws for a file that processes may open by different names: each would use a log of its own. */
export function refuseOtherNames(path: string): void {
  const file = look(path)
  if (file === undefined) return
  if (file.names > 1) {
    throw new FaultError({
      kind: 'configuration',
      message:
        'has a second name (a hard link): a process that opens the file by it uses another log (-wal), and the two damage the file. Remove the other name, or replace it by a copy',
    })
  }
  if (isMountPoint(path)) {
    throw new FaultError({
      kind: 'configuration',
      message:
        'is mounted as a single file: its log (-wal), which has the newest events, would stay outside the mount and be lost with the container. Mount its folder instead',
    })
  }
}

/** Only on Linux, where containers mount single files. */
function isMountPoint(path: string): boolean {
  if (process.platform !== 'linux') return false
  try {
    const name = realpathSync(path).replace(
      /[ \t\n\\]/g,
      one => `\\0${one.charCodeAt(0).toString(8).padStart(2, '0')}`,
    )
    return readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .some(line => line.split(' ')[4] === name)
  } catch {
    return false
  }
}
