import type { PausedHandling } from '@ackhook/core'
import { sortedPauses } from '@ackhook/core/spi'
import type { SqliteDatabase, SqliteStatement } from '../driver/database.ts'

/** The pauses in force, as one transaction has read them. */
export class Paused {
  readonly list: readonly PausedHandling[]
  readonly coversAll: boolean
  readonly types: ReadonlySet<string>

  constructor(list: readonly PausedHandling[]) {
    this.list = list
    this.coversAll = list.some(({ type }) => type === undefined)
    this.types = new Set(list.flatMap(({ type }) => type ?? []))
  }

  covers(type: string): boolean {
    return this.coversAll || this.types.has(type)
  }

  equals({ list }: Paused): boolean {
    return list.length === this.list.length && list.every(({ type }, i) => type === this.list[i]?.type)
  }
}

export const NOT_PAUSED: Paused = new Paused([])

/** No type is empty: it stands for all of them. */
const ALL = ''
const READ = 'SELECT type, since FROM ackhook_pauses'
const ADD = 'INSERT INTO ackhook_pauses (type, since) VALUES (?, ?) ON CONFLICT (type) DO NOTHING'
const END = 'DELETE FROM ackhook_pauses WHERE type = ?'
const END_ALL = 'DELETE FROM ackhook_pauses'

/** The file's pauses. */
export class Pauses {
  readonly #read: SqliteStatement
  readonly #add: SqliteStatement
  readonly #end: SqliteStatement
  readonly #endAll: SqliteStatement

  #told: Paused | undefined

  constructor(database: SqliteDatabase) {
    this.#read = database.prepare(READ)
    this.#add = database.prepare(ADD)
    this.#end = database.prepare(END)
    this.#endAll = database.prepare(END_ALL)
  }

  read(): Paused {
    const rows = this.#read.all() as { readonly type: string; readonly since: number }[]
    if (rows.length === 0) return NOT_PAUSED
    return new Paused(
      sortedPauses(rows.map(({ type, since }) => (type === ALL ? { since } : { type, since }))),
    )
  }

  /** Returns the pauses if they differ from those of the last call, otherwise `undefined`. */
  changed(paused: Paused): readonly PausedHandling[] | undefined {
    if (this.#told !== undefined && paused.equals(this.#told)) return undefined
    this.#told = paused
    return paused.list
  }

  /** Returns whether that was not paused before. */
  add(type: string | undefined, now: number): boolean {
    return Number(this.#add.run(type ?? ALL, now).changes) > 0
  }

  /** Ends one pause, or all of them. Returns whether there was one. */
  end(type: string | undefined): boolean {
    const { changes } = type === undefined ? this.#endAll.run() : this.#end.run(type)
    return Number(changes) > 0
  }
}
