import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inFull } from '../../../test/support/in-full.ts'
import { random } from '../../../test/support/random.ts'
import { type Databases, type OpenDatabase, onMariadb, onPostgres, onSqlite } from './databases.ts'

const SERVERS = { PostgreSQL: onPostgres, MariaDB: onMariadb, SQLite: onSqlite }
const CHILD = fileURLToPath(new URL('faults-child.mjs', import.meta.url))
/** Of each event, two processes run two handlers. */
const EVENTS_OF_A_ROUND = 10
/** How often an attempt fails, at each of the places where it can. */
const RATE = 0.4

interface Faults {
  thrown: number
  /** Connections that the server ended: each in a transaction, by the handler itself or from outside at any moment. */
  lost: number
  kills: number
  /** Attempts that were under way in the processes that were killed. */
  open: number
}

interface Outcome {
  readonly faults: Faults
  readonly total: number
  readonly effects: number
  readonly marks: number
  readonly lost: number
  readonly twice: number
}

interface Round {
  readonly address: string
  readonly events: readonly string[]
  readonly faults: Faults
  readonly outside: OpenDatabase
}

type Recipe = 'once' | 'mark that commits by itself' | 'mark after the effect'

/** Ends every connection of the processes that is in a transaction. Returns how many there were. */
async function loseConnections({ dialect, query }: OpenDatabase): Promise<number> {
  if (dialect === 'postgres') {
    const ended = await query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'",
    )
    return ended.length
  }
  if (dialect === 'sqlite') return 0
  const open = await query(
    'SELECT trx_mysql_thread_id AS id FROM information_schema.innodb_trx WHERE trx_mysql_thread_id IN (SELECT id FROM information_schema.processlist WHERE db = DATABASE())',
  )
  let ended = 0
  for (const { id } of open) {
    // It may have ended by itself.
    await query(`KILL ${id}`).then(
      () => ended++,
      () => {},
    )
  }
  return ended
}

describe.each(Object.entries(SERVERS))('faults on %s', (name, start) => {
  let databases: Databases
  let folder: string
  beforeAll(async () => {
    databases = await start()
    folder = mkdtempSync(join(tmpdir(), 'ackhook-faults-'))
  })
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true })
    await databases.stop()
  })

  let ledgers = 0
  let processes = 0

  /** Lets two processes handle the same events until `wanted` faults have happened, and counts what is in the database. */
  async function suffer(recipe: Recipe, wanted: number): Promise<Outcome> {
    const address = await databases.create()
    const outside = databases.open(address)
    const faults: Faults = { thrown: 0, lost: 0, kills: 0, open: 0 }
    const totalOf = (): number => faults.thrown + faults.lost + faults.kills
    const ids: string[] = []
    while (totalOf() < wanted || faults.kills === 0) {
      const events = Array.from({ length: EVENTS_OF_A_ROUND }, (_, i) => `evt_${ids.length + i}`)
      ids.push(...events)
      await Promise.all([1, 2].map(() => handle(recipe, { address, events, faults, outside })))
    }
    const outcome = { faults, total: totalOf(), ...(await countEffects(outside, ids)) }
    await outside.close()
    return outcome
  }

  /** Starts a process for the events, kills it at any moment, and starts another one that ends when all are handled. */
  async function handle(recipe: Recipe, { address, events, faults, outside }: Round): Promise<void> {
    for (const isKilled of [true, false]) {
      const ledger = join(folder, `ledger-${++ledgers}`)
      const seed = Math.floor(random() * 2 ** 31)
      const settings = { dialect: databases.dialect, address, ledger, recipe, rate: RATE, seed, events }
      const child = fork(CHILD, [JSON.stringify(settings)], { execArgv: [] })
      processes++
      const ended = once(child, 'exit')
      await Promise.race([once(child, 'message'), ended])
      if (isKilled) {
        await sleep(random() * 80)
        // A connection may be lost in any statement, its COMMIT included.
        if (recipe === 'once' && random() < 0.5) {
          faults.lost += await loseConnections(outside)
          await sleep(random() * 80)
        }
        child.kill('SIGKILL')
      }
      const [code, signal] = await ended
      expect([code, signal]).toEqual(signal === 'SIGKILL' ? [null, 'SIGKILL'] : [0, null])
      const words = existsSync(ledger) ? readFileSync(ledger, 'utf8').split('\n') : []
      const count = (word: string): number => words.filter(one => one === word).length
      faults.thrown += count('thrown')
      faults.lost += count('lost')
      if (signal !== 'SIGKILL') continue
      faults.kills++
      faults.open += count('begun') - count('ended')
    }
  }

  it('loses no effect of once and repeats none, whatever is thrown, cut off or killed', async () => {
    const wanted = inFull(600, 12)
    const outcome = await suffer('once', wanted)
    report(`${name}: once`, outcome)
    expect(outcome).toMatchObject({ lost: 0, twice: 0 })
    expect(outcome.total).toBeGreaterThanOrEqual(wanted)
    expect(outcome.faults.thrown).toBeGreaterThan(0)
    if (name !== 'SQLite') expect(outcome.faults.lost).toBeGreaterThan(0)
    expect(outcome.marks).toBe(outcome.effects)
  })

  // Without these, the run above would prove nothing.
  it.each([
    ['mark that commits by itself', 'lost'],
    ['mark after the effect', 'twice'],
  ] as const)('with a %s, effects are %s: the run can tell', async (recipe, wrong) => {
    const outcome = await suffer(recipe, inFull(60, 12))
    report(`${name}: control, ${recipe}`, outcome)
    expect(outcome[wrong]).toBeGreaterThan(0)
  })

  async function countEffects(
    { query }: OpenDatabase,
    ids: readonly string[],
  ): Promise<Pick<Outcome, 'effects' | 'marks' | 'lost' | 'twice'>> {
    const rows = await query('SELECT event, worker, count(*) AS n FROM effects GROUP BY event, worker')
    const counts = new Map(rows.map(({ event, worker, n }) => [`${event} ${worker}`, Number(n)]))
    const wanted = ids.flatMap(id => ['first', 'second'].map(handler => counts.get(`${id} ${handler}`) ?? 0))
    const [marks] = await query('SELECT count(*) AS n FROM ackhook_marks')
    return {
      effects: [...counts.values()].reduce((sum, n) => sum + n, 0),
      marks: Number(marks?.['n']),
      lost: wanted.filter(n => n === 0).length,
      twice: wanted.filter(n => n > 1).length,
    }
  }

  function report(title: string, { faults, total, effects, lost, twice }: Outcome): void {
    console.info(
      `${title}: ${total} faults (${faults.thrown} thrown, ${faults.lost} connections lost, ${faults.kills} kills with ${faults.open} attempts under way), ${processes} processes, ${effects} effects, ${lost} lost, ${twice} twice`,
    )
  }
})
