import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { sqliteInbox } from '@ackhook/sqlite'
import { DatabaseSync } from '@photostructure/sqlite'
import { startInbox } from '../../../../packages/sqlite/test/start-inbox.ts'
import { until } from '../../../support/until.ts'
import type { Disk } from './disk.ts'

export const DATABASE = 'inbox.db'

/** Returns the keys of the events on the disk, or the reason why it cannot be read. Leaves the disk unchanged. */
export function readDisk(disk: Disk): ReadonlySet<string> | string {
  try {
    return disk.names().includes(DATABASE) ? keysIn(join(disk.folder, DATABASE)) : new Set()
  } catch (error) {
    return String(error)
  } finally {
    const names = new Set(disk.names())
    for (const name of readdirSync(disk.folder)) if (!names.has(name)) rmSync(join(disk.folder, name))
  }
}

function keysIn(path: string): ReadonlySet<string> {
  const keys = new Set<string>()
  const verdicts: string[] = []
  // Reads the log without checkpointing it into the file.
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    database.function('found', (key: string) => void keys.add(key))
    database.function('judge', (verdict: string) => void verdicts.push(verdict))
    // Uses functions: Node 20's driver keeps the file open as long as a prepared statement is referenced.
    database.exec('SELECT judge(integrity_check) FROM pragma_integrity_check')
    try {
      database.exec('SELECT found(key) FROM ackhook_events; SELECT found(key) FROM ackhook_ids')
    } catch (error) {
      if (!/no such table/.test(String(error))) throw error
    }
  } finally {
    database.close()
  }
  if (verdicts.join() !== 'ok') throw new Error(verdicts.join(', '))
  return keys
}

/** Result of starting again with these files. */
export interface Aftermath {
  readonly keys: ReadonlySet<string>
  /** Ids whose handlers ran. */
  readonly ran: ReadonlySet<string>
}

/** Starts an inbox on a copy of the disk and runs it until nothing is left, or returns the error as text. */
export async function startOn(folder: string): Promise<Aftermath | string> {
  const path = join(folder, DATABASE)
  const inbox = sqliteInbox({ path, poll: '20ms' })
  try {
    const { ran } = await startInbox(inbox, { concurrency: 64 })
    await until('nothing is left', async () => {
      const { pending, active } = await inbox.stats()
      return pending + active === 0
    })
    await inbox.close(1000)
    return { keys: keysIn(path), ran: new Set(ran.map(({ id }) => id)) }
  } catch (error) {
    return String(error)
  } finally {
    await inbox.close(1000)
  }
}
