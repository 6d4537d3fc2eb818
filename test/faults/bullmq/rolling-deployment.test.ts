import { basename, dirname } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { migrate } from '../../../packages/bullmq/test/engines.ts'
import { startPostgres } from '../../support/postgres.ts'
import { startRedis } from '../../support/redis.ts'
import { testOverflow } from '../inbox/overflow.ts'
import { testRollingDeployments } from '../inbox/rolling-deployment.ts'
import type { Workspace } from '../inbox/workspace.ts'

const queueOf = ({ database }: Workspace): string => basename(dirname(database))

describe('processes with different handlers under load on bullmqInbox, on Redis', {
  timeout: 900_000,
}, () => {
  let server: Awaited<ReturnType<typeof startRedis>>
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server.stop())
  const settingsOf = (space: Workspace) => {
    return { mode: 'bullmq', engine: { connection: server.url }, queue: queueOf(space) } as const
  }
  testRollingDeployments(settingsOf)
  testOverflow(settingsOf)
})

describe('processes with different handlers under load on bullmqInbox, on PostgreSQL', {
  timeout: 900_000,
}, () => {
  let server: Awaited<ReturnType<typeof startPostgres>>
  beforeAll(async () => {
    server = await startPostgres()
    await migrate(server.url)
  })
  afterAll(() => server.stop())
  const settingsOf = (space: Workspace) => {
    return { mode: 'bullmq', engine: { postgres: server.url }, queue: queueOf(space) } as const
  }
  testRollingDeployments(settingsOf)
  testOverflow(settingsOf)
})
