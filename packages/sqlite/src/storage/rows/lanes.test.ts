import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Groups } from '@ackhook/core'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { arrival, NOTHING, TERMS } from '../../../test/batches.ts'
import type { Arrival, Batch, Query } from '../../protocol/batch.ts'
import type { TakenRow } from '../../protocol/batch-result.ts'
import { Storage } from '../storage.ts'
import { UNGROUPED } from './lanes.ts'

const BY_TYPE: Groups = { by: 'type', limit: 2 }

let folder: string
let made = 0
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ackhook-sqlite-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true })
})

/** One process on the file. */
class Process {
  readonly #storage: Storage
  readonly #groups: Groups | undefined
  held: readonly TakenRow[] = []

  constructor(groups?: Groups) {
    const path = join(folder, 'inbox.db')
    this.#storage = new Storage(() => new DatabaseSync(path), path)
    this.#storage.open()
    this.#groups = groups
  }

  run(batch: Partial<Batch>) {
    const [result] = this.#storage.run([{ ...NOTHING, ...batch }], { ...TERMS, groups: this.#groups })
    if (result === undefined || 'kind' in result.taken) throw new Error('the take failed')
    this.held = [...this.held, ...result.taken]
    return { ...result, taken: result.taken }
  }

  /** Stores events of these types. A receiver without the option stores no group. */
  accept(types: string): void {
    const arrivals = [...types].map((type): Arrival => {
      return arrival(made++, { type, ...(this.#groups !== undefined && { group: type }) })
    })
    this.run({ arrivals })
  }

  /** Takes rows, and returns their types. */
  take(limit: number): string {
    return this.run({ take: limit })
      .taken.map(({ event }) => event?.type)
      .join('')
  }

  ask(query: Query): unknown {
    const { found } = this.run({ queries: [query] })
    return 'kind' in found || found[0] === undefined || 'kind' in found[0] ? found : found[0].value
  }

  fail(rows: readonly TakenRow[], delayMs: number): void {
    const settlements = rows.map(
      ({ seq, token }) => ({ kind: 'retry', seq, token, delayMs, reason: 'no' }) as const,
    )
    this.held = this.held.filter(row => !rows.includes(row))
    this.run({ settlements })
  }

  complete(rows: readonly TakenRow[]): void {
    const settlements = rows.map(
      ({ seq, token }) => ({ kind: 'complete', seq, token, forgetAt: 9e15 }) as const,
    )
    this.held = this.held.filter(row => !rows.includes(row))
    this.run({ settlements })
  }

  end(): void {
    this.#storage.close()
  }
}

describe('groups', () => {
  it('take turns, each up to its limit of running rows', () => {
    const one = new Process(BY_TYPE)
    one.accept('aaaabbc')
    expect(one.take(4)).toBe('abca')
    expect(one.take(4)).toBe('b')
    one.complete(one.held.filter(({ group }) => group === 'a'))
    expect(one.take(4)).toBe('aa')
    one.end()
  })

  it('have their limit in each process', () => {
    const [one, other] = [new Process(BY_TYPE), new Process(BY_TYPE)]
    one.accept('aaaaa')
    expect(one.take(4)).toBe('aa')
    expect(other.take(4)).toBe('aa')
    one.end()
    other.end()
  })

  it('include the events that an arrival’s own process runs at once', () => {
    const one = new Process(BY_TYPE)
    const arrivals = ['a', 'a', 'a', 'b'].map((type): Arrival => {
      return arrival(made++, { type, group: type })
    })
    const { taken } = one.run({ arrivals, take: 9 })
    expect(taken.map(({ group }) => group)).toEqual(['a', 'a', 'b'])
    expect(one.take(9)).toBe('')
    one.end()
  })

  it('are found again for rows that were stored without one', () => {
    const before = new Process()
    before.accept('aaab')
    const one = new Process(BY_TYPE)
    expect(one.take(9)).toBe('aba')
    one.end()
    before.end()
  })

  it('are found for rows stored without one behind many of a group that has no slot left', () => {
    const [one, plain] = [new Process(BY_TYPE), new Process()]
    one.accept('a'.repeat(300))
    plain.accept('b')
    expect(one.take(9)).toBe('aba')
    plain.accept(`${'a'.repeat(300)}c`)
    // The next transaction follows at once while slots stay free.
    expect(one.run({ take: 9 })).toMatchObject({ taken: [], nextDueMs: 0 })
    expect(one.take(9)).toBe('c')
    expect(one.run({ take: 9 }).nextDueMs).toBeUndefined()
    one.end()
    plain.end()
  })

  it('wait for their own slots with retries that are due, and hold up no other', async () => {
    const one = new Process({ by: 'type', limit: 1 })
    one.accept('aaa')
    expect([one.take(1), one.take(1)]).toEqual(['a', ''])
    one.fail(one.held, 1)
    one.accept('b')
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(one.take(9)).toBe('ab')
    expect(one.held.find(({ event }) => event?.type === 'a')).toMatchObject({ attempt: 2, isRetry: true })
    expect(one.ask({ kind: 'stats' })).toMatchObject({ pending: 2, active: 2 })
    one.end()
  })

  it('use an index for each step: no take reads the rows that wait', () => {
    const one = new Process(BY_TYPE)
    const database = new DatabaseSync(join(folder, 'inbox.db'))
    const plan = database
      .prepare(`EXPLAIN QUERY PLAN SELECT group_name FROM ackhook_events INDEXED BY ackhook_events_group
        WHERE state = 0 AND due <= 0 AND group_name IS NOT NULL AND due = ? AND group_name > ? ORDER BY group_name LIMIT 1`)
      .all(0, 'a') as { detail: string }[]
    expect(plan.map(({ detail }) => detail).join()).toMatch(/^SEARCH .*\(due=\? AND group_name>\?\)$/)
    one.accept('a')
    one.take(1)
    const ungrouped = database.prepare(`EXPLAIN QUERY PLAN ${UNGROUPED}`).all() as { detail: string }[]
    // Sorts nothing, and finds no other rows in this index.
    expect(ungrouped.map(({ detail }) => detail).join()).toMatch(
      /^SEARCH \S+ USING INDEX ackhook_events_ungrouped/,
    )
    database.close()
    one.end()
  })
})

describe('retries', () => {
  it('take turns with rows that wait for a slot, up to half of the slots', async () => {
    const one = new Process()
    one.accept('r'.repeat(20))
    one.run({ take: 20 })
    one.fail(one.held, 1)
    one.accept('f'.repeat(20))
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(one.take(16)).toBe('rfrfrfrfrfrfrfrf')
    one.complete(one.held.filter(({ event }) => event?.type === 'f'))
    expect(one.take(8)).toBe('ffffffff')
    one.complete(one.held)
    expect(one.take(16)).toBe('rfrfrfrfrrrrrrrr')
    one.end()
  })

  it('have no more slots than that while rows of a paused type wait', async () => {
    const one = new Process()
    one.accept('r'.repeat(20))
    one.run({ take: 20 })
    one.fail(one.held, 1)
    one.accept('p'.repeat(20) + 'f'.repeat(20))
    one.ask({ kind: 'pause', type: 'p' })
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(one.take(16).replaceAll('f', '')).toBe('rrrrrrrr')
    expect(one.held).toHaveLength(16)
    one.end()
  })

  it('have no more slots in a process without groups than that, once one with groups has seen them', async () => {
    const [plain, other] = [new Process(), new Process({ by: 'type', limit: 1 })]
    plain.accept('r'.repeat(40))
    plain.run({ take: 40 })
    plain.fail(plain.held.slice(0, 20), 1)
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(other.take(1)).toBe('r')
    plain.fail(plain.held, 1)
    plain.accept('f'.repeat(20))
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(plain.take(16)).toBe('rfrfrfrfrfrfrfrf')
    plain.complete(plain.held.filter(({ event }) => event?.type === 'f'))
    expect(plain.take(8)).toBe('ffffffff')
    plain.complete(plain.held)
    // Without first attempts, retries of both kinds have every slot.
    expect(plain.take(4)).toBe('rfrf')
    expect(plain.take(40)).toMatch(/^(rf)*r*$/)
    expect(plain.held.filter(({ isRetry }) => isRetry)).toHaveLength(31)
    plain.end()
    other.end()
  })
})

it('counts what a dead process ran as waiting while all is paused', () => {
  const [one, other] = [new Process(), new Process()]
  one.accept('p')
  one.take(1)
  one.end()
  const database = new DatabaseSync(join(folder, 'inbox.db'))
  // Does what `endOrphanedLeases` does at the start of a process.
  database.exec('UPDATE ackhook_events SET token = NULL WHERE state = 1')
  database.close()
  other.ask({ kind: 'pause', type: undefined })
  expect(other.take(1)).toBe('')
  expect(other.ask({ kind: 'stats' })).toMatchObject({ pending: 1, active: 0, paused: true })
  other.ask({ kind: 'resume', type: undefined })
  expect(other.take(1)).toBe('p')
  other.end()
})

describe('a pause of one type', () => {
  it('sets its rows aside, which stay pending, and lets them go on afterwards', () => {
    const one = new Process()
    one.accept('ppq')
    expect(one.ask({ kind: 'pause', type: 'p' })).toBe(true)
    expect(one.take(9)).toBe('q')
    expect(one.ask({ kind: 'stats' })).toMatchObject({
      pending: 2,
      active: 1,
      pausedTypes: ['p'],
      oldestUntriedMs: 0,
    })
    const pending = one.ask({ kind: 'browse', state: 'pending', limit: 9 }) as { type: string }[]
    expect(pending.map(({ type }) => type)).toEqual(['p', 'p'])
    expect(
      (one.ask({ kind: 'stats' }) as { oldestPendingMs: number }).oldestPendingMs,
    ).toBeGreaterThanOrEqual(0)
    expect(one.run({ take: 9 }).nextDueMs).toBeUndefined()
    one.ask({ kind: 'resume', type: 'p' })
    expect(one.take(9)).toBe('pp')
    one.end()
  })

  it('is ended by any process, even if the one that set the rows aside is gone', () => {
    const [one, other] = [new Process(), new Process()]
    one.accept('p')
    expect(other.take(1)).toBe('p')
    one.accept('p')
    one.ask({ kind: 'pause', type: 'p' })
    expect(one.take(9)).toBe('')
    one.ask({ kind: 'resume', type: undefined })
    one.end()
    expect(other.take(9)).toBe('p')
    other.end()
  })

  it('is no backlog while every slot is busy either', async () => {
    const one = new Process()
    one.accept('pp')
    one.ask({ kind: 'pause', type: 'p' })
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(one.ask({ kind: 'stats' })).toMatchObject({ pending: 2, oldestUntriedMs: 0 })
    one.accept('q')
    await new Promise(resolve => setTimeout(resolve, 5))
    const { oldestUntriedMs } = one.ask({ kind: 'stats' }) as { oldestUntriedMs: number }
    expect(oldestUntriedMs).toBeGreaterThan(0)
    one.end()
  })

  it('is told when it changes, and not with every result', () => {
    const [one, other] = [new Process(), new Process()]
    expect(one.run({ take: 1 }).paused).toEqual([])
    other.ask({ kind: 'pause', type: 'p' })
    expect(one.run({ take: 1 }).paused).toMatchObject([{ type: 'p', since: expect.any(Number) }])
    expect(one.run({ take: 1 }).paused).toBeUndefined()
    other.ask({ kind: 'pause', type: undefined })
    expect(one.run({ take: 1 }).paused).toMatchObject([{ since: expect.any(Number) }, { type: 'p' }])
    one.end()
    other.end()
  })

  it.each([undefined, BY_TYPE])(
    'makes no retry a first attempt: they share the slots as ever (%o)',
    async groups => {
      const one = new Process(groups === undefined ? undefined : { by: 'type', limit: 16 })
      one.accept('p'.repeat(20))
      one.run({ take: 20 })
      one.fail(one.held, 1)
      one.accept('q'.repeat(20))
      for (const type of ['p', 'q']) one.ask({ kind: 'pause', type })
      await new Promise(resolve => setTimeout(resolve, 20))
      expect(one.take(16)).toBe('')
      const pending = one.ask({ kind: 'browse', state: 'pending', limit: 99 }) as { type: string }[]
      expect(pending.map(({ type }) => type).join('')).toBe('p'.repeat(20) + 'q'.repeat(20))
      one.ask({ kind: 'resume', type: undefined })
      // Each take lets the rows of one type go on.
      for (let i = 0; i < 2; i++) one.run({ take: 1 })
      one.run({ take: 14 })
      expect(one.held.filter(({ isRetry }) => isRetry)).toHaveLength(8)
      expect(one.held.filter(({ attempt }) => attempt === 1)).toHaveLength(8)
      one.end()
    },
  )

  it('sets a retry aside too, and a row of a group', async () => {
    const one = new Process(BY_TYPE)
    one.accept('p')
    one.take(1)
    one.fail(one.held, 1)
    one.accept('pq')
    one.ask({ kind: 'pause', type: 'p' })
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(one.take(9)).toBe('q')
    one.ask({ kind: 'resume', type: 'p' })
    expect(one.take(9)).toBe('pp')
    one.end()
  })
})
