import { basename, dirname } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { migrate } from '../../../packages/bullmq/test/engines.ts'
import { inFull } from '../../support/in-full.ts'
import { startPostgres } from '../../support/postgres.ts'
import { startRedis } from '../../support/redis.ts'
import type { ChildSettings } from '../inbox/receiver-process.ts'
import type { Workspace } from '../inbox/workspace.ts'

type Settings = Pick<ChildSettings, 'mode' | 'engine' | 'queue'>

const ENGINES = {
  async Redis() {
    const server = await startRedis()
    return { server, engine: { connection: server.url } }
  },
  async PostgreSQL() {
    const server = await startPostgres()
    await migrate(server.url)
    return { server, engine: { postgres: server.url } }
  },
}

/** Declares the tests of processes that share a queue, on each engine. The short run mostly waits for processes to count as gone. */
export function onBothEngines(declareTests: (settingsOf: (space: Workspace) => Settings) => void): void {
  const options = { timeout: 900_000, concurrent: process.env['FAULT_SCALE'] !== undefined }
  describe.each(Object.entries(ENGINES).slice(0, inFull(2, 1)))(
    'processes with different handlers under load on bullmqInbox, on %s',
    options,
    (_, start) => {
      let started: Awaited<ReturnType<typeof start>>
      beforeAll(async () => {
        started = await start()
      }, 60_000)
      afterAll(() => started.server.stop())
      declareTests(({ database }) => {
        return { mode: 'bullmq', engine: started.engine, queue: basename(dirname(database)) }
      })
    },
  )
}
