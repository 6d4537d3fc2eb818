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
import { random } from '../../../support/random.ts'
import type { Call } from './recorder.ts'

/**
 * A disk that keeps only what it must: data written before the start of a successful sync of the file, and names created
 * before the start of a successful sync of the folder.
 */
export interface Disk {
  /** Folder with the files as they would be after a power loss now. Read-only. */
  readonly folder: string
  /** Returns the names of those files. */
  names(): readonly string[]
  /** Applies the next call, in order of occurrence. */
  heed(call: Call): void
  /** Copies the disk to a new folder, with the given amount of unsynced data. */
  copy(to: string, unsynced: Unsynced): void
}

/**
 * Amount of unsynced data. `some`: any part of it, since the system writes back at any time in any order, and power may
 * fail within a write, between two sectors.
 */
export type Unsynced = 'nothing' | 'some' | 'everything'

interface Change {
  readonly at: number
  readonly offset: number
  /** Absent if the file was truncated to `offset`. */
  readonly bytes: Uint8Array | undefined
}

interface File {
  path: string
  /** Changes that may be missing on disk, oldest first. */
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
  /** Files by the names that a running process sees. */
  const seen = new Map<string, File>()
  /** Files by the names on disk. */
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
        if (began === undefined) throw new Error(`a sync of ${name} ended without a beginning`)
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

/** Names reach the disk in order, as in every journaling file system. */
const NAMINGS: Readonly<Record<Unsynced, (all: readonly Naming[]) => readonly Naming[]>> = {
  nothing: () => [],
  some: all => all.slice(0, Math.round(random() * all.length)),
  everything: all => all,
}

const CHANGES: Readonly<Record<Unsynced, (all: readonly Change[]) => readonly Change[]>> = {
  nothing: () => [],
  some(all) {
    const share = random()
    return all.filter(() => random() < share).map(torn)
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

/** Truncates one write in eight at one of its sectors. */
function torn(change: Change): Change {
  const { offset, bytes } = change
  if (bytes === undefined || random() > 1 / 8) return change
  const end = Math.floor((offset + random() * bytes.length) / SECTOR) * SECTOR
  return { ...change, bytes: bytes.subarray(0, Math.max(0, end - offset)) }
}
