import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const VITEST = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url))

interface Results {
  readonly testResults: readonly {
    readonly name: string
    readonly assertionResults: readonly {
      readonly status: string
      readonly failureMessages: readonly string[]
    }[]
  }[]
}

test('without a server program, its tests fail with one sentence each, and the others pass', async () => {
  const { VITEST: _, ...env } = process.env
  const out = await new Promise<string>(resolve => {
    const files = [
      'test/support/keep-alive-agent',
      'test/support/redis.test',
      'packages/redis/test/unavailable',
    ]
    execFile(
      process.execPath,
      [VITEST, 'run', '--reporter=json', ...files],
      { cwd: ROOT, env: { ...env, ACKHOOK_MISSING_PROGRAMS: 'redis-server,postgres' } },
      (_, stdout) => resolve(stdout),
    )
  })
  const { testResults } = JSON.parse(out.slice(out.indexOf('{'))) as Results
  const messages = testResults.flatMap(file => file.assertionResults.flatMap(one => one.failureMessages))
  expect(messages.length).toBeGreaterThan(0)
  for (const message of messages)
    expect(message).toMatch(/^(Error: )?These tests need redis-server\. Run as root: .+$/)
  expect(testResults.flatMap(file => file.assertionResults.map(({ status }) => status))).toContain('passed')
})
