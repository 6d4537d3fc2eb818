import { expect, it, vi } from 'vitest'
import { createPostgresEngine } from './postgres-engine.ts'

vi.mock('pg', () => {
  throw new Error("Cannot find package 'pg'")
})

it("a missing 'pg' is a ConfigurationError that says what to install", async () => {
  const settings = { queue: 'ackhook', prefix: undefined, telemetry: undefined, create: true }
  await expect(
    createPostgresEngine(settings as never, { connectionString: 'postgres://localhost' } as never),
  ).rejects.toMatchObject({
    code: 'configuration_invalid',
    option: 'postgres',
    message: expect.stringContaining('npm install pg'),
  })
})
