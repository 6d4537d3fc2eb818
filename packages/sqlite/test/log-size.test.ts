import { statSync } from 'node:fs'
import { join } from 'node:path'
import { sqliteInbox } from '@ackhook/sqlite'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import { until } from '../../../test/support/until.ts'
import { newDelivery, startInbox, withFolder } from './start-inbox.ts'

const MIB = 1024 * 1024

it('shrinks a log to 64 MiB after a long read has made it grow', () =>
  withFolder(async folder => {
    const path = join(folder, 'inbox.db')
    const inbox = sqliteInbox(path)
    await startInbox(inbox, { concurrency: 0 })
    const accept = (bytes: number) => inbox.accept(newDelivery({ body: new Uint8Array(bytes) }))
    await accept(1)
    const reader = new DatabaseSync(path)
    reader.exec('BEGIN')
    reader.prepare('SELECT count(*) FROM ackhook_events').get()
    for (let i = 0; i < 100; i++) await accept(MIB)
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(90 * MIB)
    reader.exec('COMMIT')
    reader.close()
    // One commit checkpoints the log, unless somebody still reads it, and another restarts it.
    await until('the log has shrunk', async () => {
      await accept(1)
      return statSync(`${path}-wal`).size <= 64 * MIB
    })
    await inbox.close(1000)
  }))
