import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import { seededRandom } from '../../../../../packages/testing/src/lib/seeded-random.ts'
import { watchedDatabase } from '../../../../../test/support/watched-database.ts'
import { arrival, NOTHING, TERMS } from '../../../test/batches.ts'
import type { Arrival, Batch, Query, Settlement } from '../../protocol/batch.ts'
import type { TakenRow } from '../../protocol/batch-result.ts'
import { isFault } from '../../protocol/fault.ts'
import { Storage } from '../storage.ts'

const FEW = { ...TERMS, capacity: 30 }
const KEYS = 60

it.each([1, 2, 3])(
  'keeps counts and bodies consistent with the events through random changes, seed %i',
  seed => {
    const folder = mkdtempSync(join(tmpdir(), 'ackhook-sqlite-'))
    const path = join(folder, 'inbox.db')
    const random = seededRandom(seed)
    const pick = (below: number): number => Math.floor(random() * below)
    let fails = false
    const file = new DatabaseSync(path)
    const database = watchedDatabase(file, {
      beforeRun(sql) {
        if (fails && sql === 'COMMIT') throw Object.assign(new Error('disk I/O error'), { errcode: 10 })
      },
    })
    const storage = new Storage(() => database)
    let held: TakenRow[] = []
    for (let step = 0; step < 400; step++) {
      fails = step > 0 && pick(10) === 0
      const arrivals = Array.from({ length: pick(4) }, () => anArrival(pick(KEYS), pick(2) === 0))
      const settlements = held.filter(() => pick(2) === 0).map(row => settlement(row, pick(6)))
      const queries = Array.from({ length: pick(3) }, (): Query => {
        return {
          kind: (['redrive', 'discard', 'forget'] as const)[pick(3)] ?? 'forget',
          key: `key${pick(KEYS)}`,
        }
      })
      const batch: Batch = {
        ...NOTHING,
        arrivals,
        settlements,
        queries,
        take: pick(5),
        readAhead: 2,
      }
      const [result] = storage.run([batch], FEW)
      if (result !== undefined && !isFault(result.settled))
        held = held.filter(row => !settlements.some(({ token }) => token === row.token))
      if (result !== undefined && !isFault(result.taken)) held.push(...result.taken)
    }
    const [stats] = storage.run([{ ...NOTHING, queries: [{ kind: 'stats' }, { kind: 'board' }] }], FEW)
    const rows = file
      .prepare(`SELECT sum(state IN (0, 2)) AS pending, sum(state = 1) AS active, sum(state = 3) AS dead,
        sum(postponed) AS postponed FROM ackhook_events`)
      .get() as {
      readonly pending: number
      readonly active: number
      readonly dead: number
      readonly postponed: number
    }
    const { postponed, ...counts } = rows
    expect(stats?.found).toMatchObject([{ value: counts }, { value: { postponed } }])
    const seqsIn = (table: string, seq: string) =>
      file.prepare(`SELECT ${seq} AS seq FROM ${table} ORDER BY 1`).all()
    expect(seqsIn('ackhook_bodies', 'seq')).toEqual(seqsIn('ackhook_events', 'coalesce(body_seq, seq)'))
    file.close()
    rmSync(folder, { recursive: true })
  },
)

function anArrival(index: number, isOrdered: boolean): Arrival {
  return arrival(index, isOrdered ? { order: { key: 'key', createdAt: index } } : {})
}

function settlement({ seq, token }: TakenRow, kind: number): Settlement {
  const lease = { seq, token }
  if (kind === 0) return { ...lease, kind: 'retry', delayMs: 0, reason: 'no' }
  if (kind === 1) return { ...lease, kind: 'dead-letter', reason: 'no', mark: null, group: 'g', stack: null }
  if (kind === 2) return { ...lease, kind: 'postpone', delayMs: 0, mark: 1 }
  if (kind === 3) return { ...lease, kind: 'release', begun: true }
  return { ...lease, kind: 'complete', forgetAt: 9e15 }
}
