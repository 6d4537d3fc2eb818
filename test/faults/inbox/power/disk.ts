import {
  closeSync,
  copyFileSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Call } from './recorder.ts'

/**
 * A disk that keeps only what it must: what was written before a sync of the file began that has succeeded, and the
 * names that a sync of the folder covered in the same way.
 */
export interface Disk {
  /** Where the files are, as they would be found after a loss of power now. Not to be written to. */
  readonly folder: string
  /** The names of those files. */
  names(): readonly string[]
  /** The next call, in the order in which they happened. */
  heed(call: Call): void
  /** Copies it to a new folder, with that much of what need not be there. */
  copy(to: string, unsynced: Unsynced): void
}

/**
 * `some`: any part of it, as the system writes back when and in which order it likes, and power may fail within a write,
 * between two sectors.
 */
export type Unsynced = 'nothing' | 'some' | 'everything'

interface Change {
  readonly at: number
  readonly offset: number
  /** None where the file was cut to `offset`. */
  readonly bytes: Uint8Array | undefined
}

interface File {
  path: string
  /** What need not be on the disk, oldest first. */
  changes: Change[]
}

interface Naming {
  readonly at: number
  readonly kind: 'made' | 'deleted'
  readonly name: string
  readonly file: File
}

const SECTOR = 512

export function createDisk(beside: string): Disk {
  const folder = join(beside, 'disk')
  const nameless = join(beside, 'nameless')
  mkdirSync(folder)
  mkdirSync(nameless)
  /** By the names that a running process sees. */
  const seen = new Map<string, File>()
  /** By the names that are on the disk. */
  const kept = new Map<string, File>()
  let namings: Naming[] = []
  const syncs = new Map<string, number>()
  let at = 0
  let moved = 0

  function fileOf(name: string): File {
    const file = seen.get(name)
    if (file === undefined) throw new Error(`${name} was never created`)
    return file
  }

  function move(file: File, path: string): void {
    renameSync(file.path, path)
    file.path = path
  }

  function keepNames(until: number): void {
    for (const { kind, name, file } of namings.filter(naming => naming.at < until)) {
      if (kind === 'made') {
        move(file, join(folder, name))
        kept.set(name, file)
      } else {
        move(file, join(nameless, `deleted-${moved++}`))
        kept.delete(name)
      }
    }
    namings = namings.filter(naming => naming.at >= until)
  }

  function keepBytes(file: File, until: number): void {
    write(
      file.path,
      file.changes.filter(change => change.at < until),
    )
    file.changes = file.changes.filter(change => change.at >= until)
  }

  return {
    folder,
    names: () => [...kept.keys()],
    heed({ kind, name, offset, bytes, who }) {
      at++
      if (kind === 'made') {
        const file: File = { path: join(nameless, `made-${at}`), changes: [] }
        writeFileSync(file.path, '')
        seen.set(name, file)
        namings.push({ at, kind, name, file })
      } else if (kind === 'deleted') {
        namings.push({ at, kind, name, file: fileOf(name) })
        seen.delete(name)
      } else if (kind === 'syncing') {
        syncs.set(`${name} ${who}`, at)
      } else if (kind === 'synced') {
        const began = syncs.get(`${name} ${who}`)
        if (began === undefined) throw new Error(`a sync of ${name} ended that never began`)
        if (name === '.') keepNames(began)
        else if (seen.has(name)) keepBytes(fileOf(name), began)
      } else {
        fileOf(name).changes.push({ at, offset, bytes: kind === 'cut' ? undefined : bytes })
      }
    },
    copy(to, unsynced) {
      mkdirSync(to)
      const names = new Map(kept)
      for (const { kind, name, file } of NAMINGS[unsynced](namings)) {
        if (kind === 'made') names.set(name, file)
        else names.delete(name)
      }
      for (const [name, file] of names) {
        copyFileSync(file.path, join(to, name))
        write(join(to, name), CHANGES[unsynced](file.changes))
      }
    },
  }
}

/** Names go to the disk in their order, as with every file system that has a journal. */
const NAMINGS: Readonly<Record<Unsynced, (all: readonly Naming[]) => readonly Naming[]>> = {
  nothing: () => [],
  some: all => all.slice(0, Math.round(Math.random() * all.length)),
  everything: all => all,
}

const CHANGES: Readonly<Record<Unsynced, (all: readonly Change[]) => readonly Change[]>> = {
  nothing: () => [],
  some(all) {
    const share = Math.random()
    return all.filter(() => Math.random() < share).map(torn)
  },
  everything: all => all,
}

function write(path: string, changes: readonly Change[]): void {
  if (changes.length === 0) return
  const file = openSync(path, 'r+')
  for (const { offset, bytes } of changes) {
    if (bytes === undefined) ftruncateSync(file, offset)
    else writeSync(file, bytes, 0, bytes.length, offset)
  }
  closeSync(file)
}

/** One write of eight, and that as far as one of its sectors. */
function torn(change: Change): Change {
  const { offset, bytes } = change
  if (bytes === undefined || Math.random() > 1 / 8) return change
  const end = Math.floor((offset + Math.random() * bytes.length) / SECTOR) * SECTOR
  return { ...change, bytes: bytes.subarray(0, Math.max(0, end - offset)) }
}
