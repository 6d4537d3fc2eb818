import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { inboxProcess, inboxSuite } from '@ackhook/conformance/inbox'
import type { Inbox } from '@ackhook/core'
import { sqliteInbox } from '@ackhook/sqlite'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import { itUnlessLong } from '../support/in-full.ts'

const PROCESS = new URL('./sqlite-inbox-process.mjs', import.meta.url)

/** Wraps every inbox of the suite. */
interface Sealing {
  /** Module with the functions `seal` and `open`, for the suite's processes. */
  readonly seal?: string
  readonly wrap: (inbox: Inbox) => Inbox
  readonly long?: RegExp
}

class Target {
  readonly sealing: Sealing
  readonly folder = mkdtempSync(join(tmpdir(), 'ackhook-sqlite-'))
  readonly path = join(this.folder, 'inbox.db')
  /** Locks the file while writes must fail. */
  #holder: InstanceType<typeof DatabaseSync> | undefined

  constructor(sealing: Sealing) {
    this.sealing = sealing
  }

  createInbox() {
    return this.sealing.wrap(sqliteInbox({ path: this.path, lease: '5s', poll: '20ms' }))
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

  constructor(bytes: number, sealing: Sealing) {
    super(sealing)
    this.#database.exec(`PRAGMA max_page_count = ${Math.ceil(bytes / 4096)}`)
  }

  override createInbox() {
    return this.sealing.wrap(sqliteInbox({ database: this.#database, poll: '20ms' }))
  }

  override close(): void {
    this.#database.close()
    super.close()
  }
}

function isFree(path: string): boolean {
  const database = new DatabaseSync(path)
  try {
    database.exec('PRAGMA busy_timeout = 0; BEGIN IMMEDIATE; ROLLBACK')
    return true
  } catch {
    return false
  } finally {
    database.close()
  }
}

/** Starts a process whose thread answers late. */
async function startDistant({ path, sealing: { seal } }: Target) {
  const server = createServer().listen(0, '127.0.0.1')
  const connected = once(server, 'connection') as Promise<[Socket]>
  await once(server, 'listening')
  const control = (server.address() as AddressInfo).port
  const { inbox, stop, resume } = await inboxProcess(PROCESS, { path, control, seal })
  const [socket] = await connected
  server.close()
  return {
    inbox,
    /** Stopped within a transaction, a process would keep the file locked for all others. */
    async stop() {
      for (;;) {
        stop()
        await setTimeout(2)
        if (isFree(path)) return
        resume()
        await setTimeout(1)
      }
    },
    resume,
    async path(state: 'silent' | { readonly delayMs: number }) {
      socket.write(`${JSON.stringify(state)}\n`)
      await once(socket, 'data')
    },
  }
}

/** Cases whose leases have to expire: left to the fault run. */
const LONG = /^take-(hangs|stopped)$/

/** Declares the tests of the inbox suite on files. */
export function testSqliteInbox(sealing: Sealing = { wrap: inbox => inbox }): void {
  const cases = inboxSuite<Target>({
    open: () => new Target(sealing),
    openSmall: bytes => new SmallTarget(bytes, sealing),
    crash: ({ path }) => inboxProcess(PROCESS, { path, seal: sealing.seal }),
    distant: startDistant,
    failWrites: (target, isFailing) => target.failWrites(isFailing),
    capabilities: {
      survives: true,
      shared: true,
      serialize: true,
      forgets: true,
      browse: true,
      counts: true,
      many: true,
      drops: true,
      erases: true,
      groups: true,
      lookup: true,
      traces: true,
      activity: true,
      pauses: true,
      pausesTypes: true,
      sharesSlots: true,
    },
  })
  for (const { id, name, timeLimitMs, run } of cases) {
    itUnlessLong(id, sealing.long ?? LONG)(`${id}: ${name}`, { timeout: timeLimitMs }, run)
  }

  it('omits the cases about clocks: all processes on a file share one machine', () => {
    expect(cases.notRun.map(({ missing }) => missing)).toEqual(['skew'])
  })
}
