import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Inbox } from '@ackhook/core'
import { sqliteInbox } from '@ackhook/sqlite'
import { afterAll, expect, it } from 'vitest'
import { newDelivery, startInbox } from '../../../packages/sqlite/test/start-inbox.ts'
import { random } from '../../support/random.ts'
import { until } from '../../support/until.ts'

const CHILD = fileURLToPath(new URL('redrive-child.mjs', import.meta.url))
const LETTERS = 2000
const folder = mkdtempSync(join(tmpdir(), 'ackhook-redrive-'))
afterAll(() => rmSync(folder, { recursive: true }))

it.each(Array.from({ length: 10 }, (_, round) => round))(
  'a killed bulk redrive leaves each letter dead or redriven, round %d',
  async round => {
    const path = join(folder, `${round}.db`)
    const keys = await fill(path)
    const child = spawn(process.execPath, [CHILD, path], { stdio: ['ignore', 'pipe', 'inherit'] })
    const exited = once(child, 'exit')
    const lines = createInterface({ input: child.stdout })
    let reported = 0
    lines.on('line', line => {
      reported = Number(line)
    })
    await once(lines, 'line')
    await sleep(random() * 30)
    child.kill('SIGKILL')
    await exited
    const inbox = sqliteInbox({ path, poll: '20ms' })
    const dead = await keysOf(inbox, 'dead')
    const pending = await keysOf(inbox, 'pending')
    expect([...dead, ...pending].toSorted()).toEqual(keys)
    expect(pending.length).toBeGreaterThanOrEqual(reported)
    expect(await inbox.stats()).toMatchObject({ dead: dead.length, pending: pending.length, active: 0 })
    await inbox.close(1000)
  },
)

/** Creates dead letters in a new file, and returns their keys. */
async function fill(path: string): Promise<readonly string[]> {
  const inbox = sqliteInbox({ path, poll: '20ms' })
  await startInbox(inbox, {}, async () => ({ outcome: 'dead', error: new TypeError('no'), notified: true }))
  const deliveries = Array.from({ length: LETTERS }, () => newDelivery())
  await Promise.all(deliveries.map(delivery => inbox.accept(delivery)))
  await until('all are dead', async () => (await inbox.stats()).dead === LETTERS, 60_000)
  await inbox.close(1000)
  return deliveries.map(({ key }) => key).toSorted()
}

async function keysOf(inbox: Inbox, state: 'dead' | 'pending'): Promise<readonly string[]> {
  return ((await inbox.browse?.({ state, limit: LETTERS + 1 })) ?? []).map(({ key }) => key)
}
