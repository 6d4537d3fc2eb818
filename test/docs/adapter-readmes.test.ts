import { execFileSync } from 'node:child_process'
import { sign } from '@ackhook/testing'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { programsOf, runExample } from './run-example.ts'

const secret = 'whsec_readme_0123456789'

// The examples run against what is built, as a reader's do.
beforeAll(() => void execFileSync('npx', ['tsc', '-b'], { cwd: new URL('../../', import.meta.url) }), 120_000)

describe.each(['express', 'fastify', 'hono'])('the README of @ackhook/%s', framework => {
  const programs = programsOf(`packages/${framework}/README.md`)

  it('has one complete example', () => expect(programs).toHaveLength(1))

  it('shows an example that handles a signed event and drains on SIGTERM', async () => {
    const example = await runExample(programs[0] as string, { SIGNING_SECRET: secret })
    const data = { conversation_id: 'cnv_1', channel: 'whatsapp', resolved_by: 'ai' }
    const body = JSON.stringify({
      id: 'evt_1',
      type: 'conversation.resolved',
      created_at: '2026-01-01T00:00:00Z',
      data,
    })
    const headers = { 'x-service-signature': sign(body, { secret }), 'content-type': 'application/json' }
    const reply = await fetch(`${example.base}/webhooks`, { method: 'POST', headers, body })
    expect(reply.status, example.printed()).toBe(202)
    await vi.waitFor(() => expect(example.printed()).toContain('cnv_1 was resolved by ai'), 10_000)
    expect(await example.stop()).toBe(0)
  })
})
