import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createReceiver, type Inbox, NonRetryableError } from '@ackhook/core'
import { inspectReceiver } from '@ackhook/core/spi'
import { sqliteInbox } from '@ackhook/sqlite'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { eventBody, SECRET, signedRequest } from '../../../test/support/receiving.ts'
import { until } from '../../../test/support/until.ts'
import { redisEngine } from '../../bullmq/test/engines.ts'
import { readActivity } from '../src/activity/read-activity.ts'
import { dashboard } from '../src/index.ts'
import type { ActivityReport } from '../src/protocol/protocol.ts'

const folder = mkdtempSync(join(tmpdir(), 'ackhook-verdict-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let ids = 0

/** A process on the inbox, and its page. */
async function operate(inbox: Inbox, { concurrency = 4 } = {}) {
  const receiver = createReceiver({ secret: SECRET, inbox, concurrency, logger: quiet })
  onTestFinished(async () => void (await receiver.close({ timeout: '2s' })))
  const pages = dashboard({ receiver, authorize: () => 'read' })
  const ask = (window: string) =>
    pages.fetch(new Request(`http://app.test/ops/api/activity?window=${window}`), undefined)
  return {
    receiver,
    ask,
    async send(count: number, type = 'message.received'): Promise<void> {
      for (let i = 0; i < count; i++) {
        const timestamp = Math.floor(Date.now() / 1000)
        const body = eventBody({ id: `evt_verdict_${ids++}`, type })
        expect((await receiver.handle(signedRequest(body, { timestamp }))).status).toBe(202)
      }
    },
    async report(window = '1h'): Promise<ActivityReport> {
      const reply = await ask(window)
      expect(reply.status).toBe(200)
      return (await reply.json()) as ActivityReport
    },
  }
}

const quiet = { info() {}, warn() {}, error() {} }

it('sees another process of the file handle events, fail at most of them, and go away', async () => {
  const path = join(folder, 'inbox.db')
  const web = await operate(sqliteInbox(path), { concurrency: 0 })
  const stateOf = async () => (await web.report()).verdict.state
  await web.receiver.start()
  expect(await stateOf()).toBe('idle')
  await web.send(3)
  await until('nobody handles them', async () => (await stateOf()) === 'no_worker')
  expect((await web.report()).verdict).toMatchObject({
    tone: 'bad',
    sentence: expect.stringMatching(
      /^No worker: 3 events wait, the oldest for \d+ s, and no process handles events\.$/,
    ),
    cause: expect.stringMatching(/^No process has started a receiver .*await hooks\.start\(\)\.$/),
    where: { list: 'processes' },
  })

  const worker = await operate(sqliteInbox(path))
  let isBroken = false
  worker.receiver.on('*', () => {
    if (isBroken) throw new NonRetryableError('no such customer')
  })
  await worker.receiver.start()
  await until('they are handled', async () => (await stateOf()) === 'fine')
  isBroken = true
  await web.send(22)
  await until('most have failed', async () => (await stateOf()) === 'failing_all')
  // Each process writes its own counts, this one those of the deliveries.
  await until('both have written all counts', async () => {
    const { accepted = 0, failed = 0 } = (await web.report('24h')).figures?.total ?? {}
    return accepted === 25 && failed === 22
  })
  const { verdict, waiting, figures } = await web.report('24h')
  expect(waiting).toMatchObject({ pending: 0, active: 0, dead: 22 })
  expect(figures?.total).toMatchObject({ accepted: 25, handled: 3, failed: 22, failedShare: 0.88 })
  expect(verdict).toMatchObject({
    sentence: expect.stringMatching(
      /^Failing: (88% of the last 25|all of the last 22) attempts at message\.received failed/,
    ),
    cause: 'NonRetryableError: no such customer',
  })
})

it.each([
  ['never_started', true],
  ['no_worker', false],
] as const)(
  'is %s, and not fine, when the event of a process that was killed waits for a start that nobody has called',
  async (state, isMounted) => {
    const path = join(folder, `${state}.db`)
    const killed = spawn(process.execPath, ['--input-type=module', '-e', HANGING, path], { stdio: 'inherit' })
    onTestFinished(() => void killed.kill('SIGKILL'))
    const reader = sqliteInbox(path)
    onTestFinished(async () => void (await reader.close(0)))
    await until('it handles an event', async () => (await reader.stats()).active === 1)
    killed.kill('SIGKILL')
    const receiver = isMounted ? (await operate(sqliteInbox(path))).receiver : undefined
    const sources = { inbox: reader, ...(receiver && { receiver: inspectReceiver(receiver) }) }
    // A process is missed after thirty seconds, whose end nobody waits for here.
    const processes = async () =>
      ((await reader.processes?.()) ?? []).map(one => ({ ...one, seenMs: one.seenMs + 30_000 }))
    const report = () => readActivity({ ...sources, inbox: { ...reader, processes } }, '1h')
    await until(`it is ${state}`, async () => (await report()).verdict.state === state)
    const { tone, sentence } = (await report()).verdict
    expect([tone, sentence]).toEqual(['bad', expect.stringMatching(/ 1 .*event waits/)])
  },
)

/** A process whose handler never ends. */
const HANGING = `
import { createReceiver } from '@ackhook/core'
import { inspectReceiver } from '@ackhook/core/spi'
import { sqliteInbox } from '@ackhook/sqlite'
const inbox = sqliteInbox(process.argv[1])
const receiver = createReceiver({ secret: '${SECRET}', inbox })
receiver.on('*', () => new Promise(() => {}))
const created_at = new Date(Date.now() - 60_000).toISOString()
await receiver.ingest({ id: 'evt_1', type: 'test.event', created_at, data: {} }, { source: 'test' })
setInterval(() => {}, 1000)
`

it('tells an outage of Redis, and its end', async () => {
  const redis = await redisEngine()
  onTestFinished(() => redis.stop())
  const { receiver, send, report } = await operate(redis.inbox('verdict'))
  receiver.on('*', () => {})
  await receiver.start()
  await send(2)
  await until('it is fine', async () => (await report()).verdict.state === 'fine')
  await redis.kill()
  await until('it is an outage', async () => (await report()).verdict.state === 'outage')
  const down = await report('7d')
  expect([down.waiting, down.figures]).toEqual([undefined, undefined])
  expect(down.verdict.cause).toMatch(/\w/)
  await redis.restart()
  // A delivery that is accepted ends the outage.
  await until('a delivery is accepted', () =>
    send(1).then(
      () => true,
      () => false,
    ),
  )
  await until('it is fine again', async () => (await report()).verdict.state === 'fine')
})

it('refuses another window', async () => {
  const { ask } = await operate(sqliteInbox(join(folder, 'other.db')))
  const reply = await ask('2h')
  expect([reply.status, await reply.json()]).toEqual([
    400,
    { error: 'invalid', message: "'window' must be 1h, 24h or 7d." },
  ])
})
