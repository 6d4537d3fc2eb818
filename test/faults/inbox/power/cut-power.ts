import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createDisk, type Disk, type Unsynced } from './disk.ts'
import { createPromises, LEDGER } from './promises.ts'
import type { Call, Recorder } from './recorder.ts'
import { DATABASE, readDisk, startOn } from './what-is-left.ts'

/** Power cuts, always just before a sync, when the most is promised compared with what is on disk. */
export interface Cuts {
  /** Number of first syncs at each of which power is cut and an inbox started. */
  readonly first: number
  /** Number of further cuts, evenly spread, besides those in a checkpoint. */
  readonly others: number
  /** Number of these at which an inbox is started. */
  readonly starts: number
  /** Syncs that are treated as having no effect. */
  readonly without?: (call: Call) => boolean
}

export interface Findings {
  readonly promised: number
  readonly syncs: number
  readonly checkpoints: number
  readonly cuts: number
  readonly starts: number
  /** Largest number of promised events that were missing after one cut. */
  readonly missing: number
  /** Descriptions of everything that went wrong. */
  readonly wrong: readonly string[]
}

/** The folder of the recorded processes, and a folder for copies of it. */
interface Folders {
  readonly folder: string
  readonly beside: string
}

/** Replays recorded calls to a disk that keeps only synced data, and cuts its power again and again. */
export async function cutPower(recorder: Recorder, folders: Folders, cuts: Cuts): Promise<Findings> {
  const { without = () => false } = cuts
  const isDue = cutsAt(recorder, cuts)
  const disk = createDisk(folders.beside)
  const promises = createPromises()
  const found = { syncs: 0, checkpoints: 0, cuts: 0, starts: 0, missing: 0 }
  const wrong: string[] = []
  let kept = 0

  function compare(keys: ReadonlySet<string>, where: string): void {
    const gone = [...promises.made.values()].filter(key => !keys.has(key))
    found.missing = Math.max(found.missing, gone.length)
    if (gone.length > 0) wrong.push(`${where}: ${gone.length} of ${promises.made.size} are gone`)
  }

  async function start(where: string, unsynced: Unsynced): Promise<void> {
    const copy = join(folders.beside, `copy-${found.starts++}`)
    disk.copy(copy, unsynced)
    const aftermath = await startOn(copy)
    if (typeof aftermath === 'string') wrong.push(`${where}: ${aftermath}`)
    else {
      compare(aftermath.keys, where)
      const again = [...promises.kept].filter(id => aftermath.ran.has(id))
      if (again.length > 0) wrong.push(`${where}: ${again.length} ran again`)
    }
    rmSync(copy, { recursive: true })
  }

  async function cut(where: string, isStart: boolean): Promise<void> {
    found.cuts++
    // A journal must be rolled back first, which only a started inbox does.
    if (!disk.names().some(name => name.endsWith('-journal'))) {
      const keys = readDisk(disk)
      if (typeof keys === 'string') wrong.push(`${where}: ${keys}`)
      else compare(keys, where)
    } else if (!isStart) wrong.push(`${where}: a journal where none was expected`)
    if (!isStart) return
    await Promise.all([
      start(`${where}, without unsynced data`, 'nothing'),
      start(`${where}, with some unsynced data`, 'some'),
    ])
  }

  for (const call of recorder.calls()) {
    if (call.name === LEDGER) promises.heed(call)
    if (!isOnDisk(call)) continue
    if (call.kind === 'syncing') {
      found.syncs++
      if (call.name === DATABASE) found.checkpoints++
      const isNews = promises.kept.size > kept
      kept = promises.kept.size
      const due = isDue(found.syncs, call, isNews)
      if (due !== undefined) await cut(`before sync ${found.syncs}, of ${call.name}`, due.isStart)
    }
    if (call.kind !== 'synced' || !without(call)) disk.heed(call)
  }
  await cut('at the end', cuts.starts > 0)
  insistOnAll(disk, folders)
  return { ...found, promised: promises.made.size, wrong }
}

/** Excludes shared memory, which disappears with the power and must not be needed. */
function isOnDisk({ name }: Call): boolean {
  return name !== LEDGER && !name.endsWith('-shm')
}

/** Spreads the cuts evenly. `isNews`: events were reported as handled since the last sync. */
function cutsAt(recorder: Recorder, { first, others, starts }: Cuts) {
  let syncs = 0
  for (const call of recorder.calls({ outline: true })) if (call.kind === 'syncing' && isOnDisk(call)) syncs++
  const every = Math.max(1, Math.floor((syncs - first) / others))
  const everyStart = every * Math.max(1, Math.floor(others / starts))
  return (index: number, { name }: Call, isNews: boolean): { readonly isStart: boolean } | undefined => {
    if (index <= first || (isNews && starts > 0)) return { isStart: true }
    if (index % every === 0) return { isStart: index % everyStart === 0 }
    return name === DATABASE ? { isStart: false } : undefined
  }
}

/** Throws if the record is incomplete: a missing call could hide a loss. */
function insistOnAll(disk: Disk, { folder, beside }: Folders): void {
  const copy = join(beside, 'everything')
  disk.copy(copy, 'everything')
  const names = readdirSync(folder).filter(name => name !== LEDGER)
  const isSame = (name: string) => readFileSync(join(copy, name)).equals(readFileSync(join(folder, name)))
  if (names.sort().join() === readdirSync(copy).sort().join() && names.every(isSame)) return
  throw new Error(`the files (${names.join(', ')}) were written to in a way that the recorder does not see`)
}
