import { sqlStore } from '@ackhook/sql'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Databases, type OpenDatabase, onSqlite } from './databases.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

describe('sqlStore on a file, whose clock is that of the machine', () => {
  const now = Date.now
  let databases: Databases
  let open: OpenDatabase
  beforeAll(async () => {
    databases = await onSqlite()
  })
  afterAll(() => databases.stop())
  beforeEach(async () => {
    open = databases.open(await databases.create())
  })
  afterEach(async () => {
    vi.restoreAllMocks()
    await open.close()
  })

  const setForward = (ms: number): void => {
    vi.spyOn(Date, 'now').mockImplementation(() => now() + ms)
  }
  const remember = (key: string, endsIn: number): Promise<unknown> =>
    open.query(
      `INSERT INTO ackhook_ids VALUES ('${key}', 't', ${now() + endsIn}, ${now() + endsIn}, 1, 0, 0)`,
    )
  const keys = async (): Promise<unknown[]> =>
    (await open.query('SELECT event_key FROM ackhook_ids ORDER BY event_key')).map(row => row['event_key'])

  /** Starts a store, and returns what it reports, and what makes it delete. */
  const started = async () => {
    const store = sqlStore(open.db)
    const told: string[] = []
    await store.start?.(({ code, message }) => {
      if (code === 'clock_differs') told.push(message)
    })
    let calls = 0
    const claim = () => store.claim(`new ${++calls}`, 'token', { leaseMs: 60_000, fingerprint: 1 })
    return { told, claim }
  }

  it('deletes expired ids while the clock is right', async () => {
    await remember('expired', -HOUR_MS)
    await remember('known', HOUR_MS)
    const { told, claim } = await started()
    await claim()
    await vi.waitFor(async () => expect(await keys()).toEqual(['known', 'new 1']))
    expect(told).toEqual([])
  })

  it.each([31 * DAY_MS, -31 * DAY_MS])(
    'deletes none once the clock was set by %i ms, and says so',
    async ms => {
      await remember('known', HOUR_MS)
      const { told, claim } = await started()
      setForward(ms)
      await remember('expired', -HOUR_MS)
      await claim()
      expect(told).toEqual([expect.stringMatching(/ by 31 days: for 24 hours nothing/)])
      expect(await keys()).toContain('expired')
    },
  )

  it('deletes none if it starts more than a week after the last retention ended', async () => {
    await remember('expired', -8 * DAY_MS)
    const { told, claim } = await started()
    await claim()
    expect(told).toEqual([expect.stringMatching(/is 8 days past the newest time in the database/)])
    expect(await keys()).toEqual(['expired', 'new 1'])
  })
})
