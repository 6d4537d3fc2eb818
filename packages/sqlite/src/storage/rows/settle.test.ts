import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import { arrival, NOTHING, TERMS } from '../../../test/batches.ts'
import type { Batch } from '../../protocol/batch.ts'
import { Storage } from '../storage.ts'

it.each([
  ['an attempt that never began, which does not count', 4, { begun: false }, { attempts: 2, crashes: 4 }],
  ['an attempt that had begun, without counting a crash', 4, { begun: true }, { attempts: 3, crashes: 0 }],
  ['a notification that never began', 5, { begun: false }, { attempts: 2, crashes: 5 }],
  [
    'a notification that had begun, so that another one follows',
    5,
    { begun: true },
    { attempts: 2, crashes: 5 },
  ],
])('releases %s', (_, crashes, release, after) => {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-sqlite-'))
  const path = join(folder, 'inbox.db')
  const storage = new Storage(() => new DatabaseSync(path), path)
  const run = (batch: Partial<Batch>) => storage.run([{ ...NOTHING, ...batch }], TERMS)[0]
  run({ arrivals: [arrival(1)] })
  const database = new DatabaseSync(path)
  database.exec(`UPDATE ackhook_events SET attempts = 2, crashes = ${crashes}`)
  const taken = run({ take: 1 })?.taken
  if (taken === undefined || 'kind' in taken) throw new Error('nothing was taken')
  const { seq = 0, token = '' } = taken[0] ?? {}
  expect(run({ settlements: [{ kind: 'release', seq, token, ...release }] })?.settled).toEqual([true])
  const row = database.prepare('SELECT state, token, attempts, crashes FROM ackhook_events').get()
  expect(row).toEqual({ state: 0, token: null, ...after })
  database.close()
  storage.close()
  rmSync(folder, { recursive: true })
})
