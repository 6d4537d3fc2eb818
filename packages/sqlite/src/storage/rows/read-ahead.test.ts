import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import type { Arrival, Batch, Lease, Settlement } from '../../protocol/batch.ts'
import type { TakenRow } from '../../protocol/batch-result.ts'
import { Storage } from '../storage.ts'

const TERMS = {
  capacity: 1000,
  leaseMs: 10_000,
  minDelayMs: 10,
  maxDelayMs: 50,
  factor: 2,
  concurrency: 16,
  groups: undefined,
}
const NOTHING: Batch = {
  arrivals: [],
  bytes: new Uint8Array(),
  settlements: [],
  checks: [],
  queries: [],
  take: 0,
  readAhead: 32,
}

function ordered(index: number, bytes = 0): Arrival {
  return [index, `key${index}`, '', `evt_${index}`, 'a.b', 1, 0, bytes, 'cnv_1', index, null, null, null]
}

function complete({ seq, token }: Lease, next?: Lease): Settlement {
  const lease = next === undefined ? {} : { next: { seq: next.seq, token: next.token } }
  return { kind: 'complete', seq, token, forgetAt: 9e15, ...lease }
}

/** Runs each of `lives` as one process, which ends with a crash. */
function withFile(lives: ((run: (batch: Partial<Batch>) => TakenRow[], rows: () => unknown[]) => void)[]) {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-sqlite-'))
  const path = join(folder, 'inbox.db')
  for (const live of lives) {
    const storage = new Storage(() => new DatabaseSync(path), path)
    storage.open()
    const database = new DatabaseSync(path)
    // Does what `endOrphanedLeases` does at the start of a process.
    database.exec('UPDATE ackhook_events SET token = NULL WHERE state = 1')
    const run = (batch: Partial<Batch>): TakenRow[] => {
      const taken = storage.run([{ ...NOTHING, ...batch }], TERMS)[0]?.taken ?? []
      if ('kind' in taken) throw new Error(taken.message)
      return [...taken]
    }
    const all = database.prepare('SELECT id, state, attempts, crashes FROM ackhook_events ORDER BY order_at')
    live(run, () => all.all())
    database.close()
    storage.close()
  }
  rmSync(folder, { recursive: true })
}

it('reads the rows behind a taken one, including arrivals of the same transaction', () => {
  withFile([
    run => {
      run({ arrivals: [ordered(3), ordered(1)] })
      const [head] = run({ arrivals: [ordered(2)], take: 5 })
      expect(head).toMatchObject({ event: { id: 'evt_1' } })
      expect(head?.behind?.rows.map(({ event }) => event.id)).toEqual(['evt_2', 'evt_3'])
    },
  ])
})

it('reads no more rows ahead than requested, and at most 64 KiB of bodies', () => {
  withFile([
    run => {
      run({ arrivals: [1, 2, 3, 4].map(index => ordered(index)) })
      const [head] = run({ take: 1, readAhead: 2 })
      expect(head?.behind?.rows).toHaveLength(2)
    },
  ])
  withFile([
    run => {
      const arrivals = [1, 2, 3, 4].map(index => ordered(index, 30_000))
      run({ arrivals, bytes: new Uint8Array(120_000) })
      const [head] = run({ take: 1 })
      expect(head?.behind?.rows).toHaveLength(2)
    },
  ])
})

it('passes the lease on with a result, so that a crash counts for the event that ran last', () => {
  withFile([
    run => {
      const [head] = run({ arrivals: [1, 2, 3].map(index => ordered(index)), take: 5 })
      const [second] = head?.behind?.rows ?? []
      expect(run({ settlements: [complete(head as Lease, second)], take: 5 })).toEqual([])
    },
    (run, rows) => {
      // Nothing is read ahead behind an event that has crashed, nor behind any other for a while.
      const [again] = run({ take: 5 })
      expect(again).toMatchObject({ attempt: 2, event: { id: 'evt_2' }, behind: { rows: [] } })
      expect(rows()).toMatchObject([
        { id: 'evt_2', attempts: 2, crashes: 1 },
        { id: 'evt_3', state: 2, attempts: 0, crashes: 0 },
      ])
      const [last] = run({ settlements: [complete(again as Lease)], arrivals: [ordered(4)], take: 5 })
      expect(last).toMatchObject({ attempt: 1, event: { id: 'evt_3' }, behind: { rows: [] } })
    },
  ])
})

it('passes no lease on with a result that comes too late', () => {
  withFile([
    (run, rows) => {
      const [head] = run({ arrivals: [1, 2].map(index => ordered(index)), take: 5 })
      const [second] = head?.behind?.rows ?? []
      run({ settlements: [complete({ seq: head?.seq ?? 0, token: 'late' }, second)] })
      expect(rows()).toMatchObject([{ state: 1 }, { state: 2, attempts: 0 }])
    },
  ])
})
