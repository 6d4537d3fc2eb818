import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inboxProcess, inboxSuite } from '@ackhook/conformance/inbox'
import { sqliteInbox } from '@ackhook/sqlite'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, it } from 'vitest'

const PROCESS = new URL('./sqlite-inbox-process.mjs', import.meta.url)

class Target {
  readonly folder = mkdtempSync(join(tmpdir(), 'ackhook-sqlite-'))
  readonly path = join(this.folder, 'inbox.db')
  /** Locks the file while writes must fail. */
  #holder: InstanceType<typeof DatabaseSync> | undefined

  createInbox() {
    return sqliteInbox({ path: this.path, lease: '5s', poll: '20ms' })
  }

  failWrites(isFailing: boolean): void {
    this.#holder ??= new DatabaseSync(this.path)
    this.#holder.exec(isFailing ? 'BEGIN IMMEDIATE' : 'ROLLBACK')
  }

  close(): void {
    this.#holder?.close()
    rmSync(this.folder, { recursive: true })
  }
}

/** A target whose database may not grow. */
class SmallTarget extends Target {
  readonly #database = new DatabaseSync(this.path)

  constructor(bytes: number) {
    super()
    this.#database.exec(`PRAGMA max_page_count = ${Math.ceil(bytes / 4096)}`)
  }

  override createInbox() {
    return sqliteInbox({ database: this.#database, poll: '20ms' })
  }

  override close(): void {
    this.#database.close()
    super.close()
  }
}

describe('sqliteInbox', () => {
  const cases = inboxSuite<Target>({
    open: () => new Target(),
    openSmall: bytes => new SmallTarget(bytes),
    crash: ({ path }) => inboxProcess(PROCESS, { path }),
    failWrites: (target, isFailing) => target.failWrites(isFailing),
    capabilities: {
      survives: true,
      shared: true,
      serialize: true,
      forgets: true,
      browse: true,
      counts: true,
      many: true,
      pauses: true,
      pausesTypes: true,
      sharesSlots: true,
    },
  })
  for (const { id, name, timeLimitMs, run } of cases) {
    it(`${id}: ${name}`, { timeout: timeLimitMs }, run)
  }

  it('omits the cases about clocks and about a distant server: all processes on a file share one machine', () => {
    expect(cases.notRun.map(({ missing }) => missing)).toEqual(['skew', 'distant'])
  })
})
