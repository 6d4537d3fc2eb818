import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createDisk, type Disk, type Unsynced } from './disk.ts'
import { createPromises, LEDGER } from './promises.ts'
import type { Call, Recorder } from './recorder.ts'
import { DATABASE, readDisk, startOn } from './what-is-left.ts'

/** When power is cut: always just before a sync, where the most is promised for what is on the disk. */
export interface Cuts {
  /** Each one of the first so many, and an inbox is started there. */
  readonly first: number
  /** How many of the others, spread evenly, besides those in a checkpoint. */
  readonly others: number
  /** At how many of these an inbox is started. */
  readonly starts: number
  /** Syncs that are taken to have done nothing. */
  readonly without?: (call: Call) => boolean
}

export interface Findings {
  readonly promised: number
  readonly syncs: number
  readonly checkpoints: number
  readonly cuts: number
  readonly starts: number
  /** The most that were promised and not there after one cut. */
  readonly missing: number
  /** In words, all that was not as it should be. */
  readonly wrong: readonly string[]
}

/** Where the recorded processes have worked, and where copies of it may be made. */
interface Folders {
  readonly folder: string
  readonly beside: string
}

/** Replays what processes did, to a disk that keeps what was synced and no more, and cuts its power again and again. */
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
    // A journal has to be rolled back first, which is work for a start.
    if (!disk.names().some(name => name.endsWith('-journal'))) {
      const keys = readDisk(disk)
      if (typeof keys === 'string') wrong.push(`${where}: ${keys}`)
      else compare(keys, where)
    } else if (!isStart) wrong.push(`${where}: a journal where none was expected`)
    if (!isStart) return
    await Promise.all([
      start(`${where}, with nothing that was not synced`, 'nothing'),
      start(`${where}, with some that was not synced`, 'some'),
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

/** Shared memory is gone with the power, and must not be needed. */
function isOnDisk({ name }: Call): boolean {
  return name !== LEDGER && !name.endsWith('-shm')
}

/** Spreads the cuts evenly. `isNews`: whether events were said to be handled since the last sync. */
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

/** What the record does not tell could not be missed here. So all that it tells must be all that was done. */
function insistOnAll(disk: Disk, { folder, beside }: Folders): void {
  const copy = join(beside, 'everything')
  disk.copy(copy, 'everything')
  const names = readdirSync(folder).filter(name => name !== LEDGER)
  const isSame = (name: string) => readFileSync(join(copy, name)).equals(readFileSync(join(folder, name)))
  if (names.sort().join() === readdirSync(copy).sort().join() && names.every(isSame)) return
  throw new Error(`the files (${names.join(', ')}) were written to in a way that the recorder does not see`)
}
