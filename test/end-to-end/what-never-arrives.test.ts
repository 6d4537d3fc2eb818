import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { watchDrift } from '@ackhook/contract'
import { createReceiver, type Observation } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'
import { sealedInbox } from '@ackhook/core/privacy'
import { reconcile } from '@ackhook/core/reconcile'
import { sqliteInbox } from '@ackhook/sqlite'
import { fakeClock } from '@ackhook/testing'
import { expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { startPatientEmulator } from '../support/patient-emulator.ts'

const [OLD, NEW] = ['whsec_old_0123456789abcdef', 'whsec_new_0123456789abcdef'] as const
const flip = (bytes: Uint8Array): Uint8Array => bytes.map(byte => byte ^ 0xff)

/** Starts a receiver with every way to notice what a sender does, behind a server, and an emulator that calls it. */
async function start() {
  const clock = fakeClock('2026-03-01T12:00:00Z')
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-end-to-end-'))
  const handled: string[] = []
  const seen: Observation[] = []
  const log: string[] = []
  const write = (_: object, message: string) => void log.push(message)
  const receiver = createReceiver({
    secret: [OLD, NEW],
    clock,
    events: { 'message.read': z.object({ message_id: z.string() }) },
    onInvalid: 'dead-letter',
    inbox: sealedInbox(sqliteInbox(join(folder, 'inbox.db')), { seal: flip, open: flip }),
    observe: one => void seen.push(one),
    logger: { info: write, warn: write, error: write },
  })
  receiver.on('*', ({ id }) => void handled.push(id))
  const known = { 'message.read': z.object({ message_id: z.string() }) }
  const drift = watchDrift(receiver, { known })
  await receiver.start()
  const server = createServer(toNodeHandler(receiver)).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const to = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`
  const emulator = await startPatientEmulator({ port: 0, to, secret: OLD, clock, seed: 7 })
  onTestFinished(async () => {
    await emulator.close()
    server.closeAllConnections()
    server.close()
    await receiver.close({ timeout: '1s' })
  })
  return { clock, folder, receiver, emulator, handled, seen, log, drift }
}

it('what never arrives, changes or rotates is named, and what is missing is repaired once', async () => {
  const { clock, folder, receiver, emulator, handled, seen, log, drift } = await start()
  const { api } = emulator
  const send = (id: string, rawData = '{"message_id":"msg_private"}') =>
    api.send('message.read', { id, rawData })

  await send('evt_plain')
  await vi.waitFor(() => expect(handled).toEqual(['evt_plain']))

  // The payload changes: named once, and kept although the schema refuses it.
  await send('evt_changed', '{"messageId":"msg_private"}')
  await send('evt_changed_too', '{"messageId":"msg_private"}')
  await vi.waitFor(() => expect(seen.filter(one => one.kind === 'dead_lettered')).toHaveLength(2))
  expect(drift.findings.map(({ kind, path }) => `${kind} ${path}`)).toEqual(['renamed-field data.message_id'])
  expect(drift.findings[0]?.fix).toContain("message_id: event.data['messageId']")

  // The secret rotates: the log says which one matches.
  await api.endpoints.rotateSecret({ secret: NEW, overlap: '1s' })
  await api.clock.advance('2s')
  await send('evt_rotated')
  await vi.waitFor(() => expect(handled).toContain('evt_rotated'))
  expect(log.join('\n')).toMatch(/Secret 2 of 2 matched a delivery for the first time/)

  // Retries keep the first t: no reply arrives, so that they go on until t is older than the tolerance.
  await api.faults.set({ frozenTimestamp: true, lostReply: true })
  for (let n = 0; n < 3; n++) await send(`evt_frozen_${n}`)
  await api.clock.advance('30m')
  await api.faults.set({})
  const outdated = seen.flatMap(one => (one.kind === 'rejected' ? [`${one.code}: ${one.detail}`] : []))
  expect(outdated.join('\n')).toMatch(/timestamp_too_old: .*it is the t of a first attempt/)
  expect(log.join('\n')).toContain(
    'If the sender does not renew t when it retries, set tolerance to its whole',
  )
  expect(log.join('\n')).not.toContain("check this machine's clock")

  // The platform goes dark: one comparison finds and handles what was lost.
  await api.faults.set({ dark: true })
  for (let n = 0; n < 20; n++) await send(`evt_lost_${n}`)
  await api.faults.set({})
  const list = async function* () {
    const reply = await fetch(`${emulator.url}/_emulator/v1/events?limit=200`)
    const { events } = (await reply.json()) as { readonly events: readonly { readonly body: string }[] }
    for (const { body } of events) yield JSON.parse(body) as object
  }
  const repairs = reconcile(receiver, { list, settle: '0s', since: new Date(clock() - 86_400_000) })
  onTestFinished(() => repairs.close())
  const { missed } = await repairs.run()
  expect(missed).toBe(20)
  await vi.waitFor(() => expect(handled).toHaveLength(25))
  expect(new Set(handled).size).toBe(25)
  expect(log.join('\n')).toContain('A webhook was lost')

  // No body can be read on the disk.
  const files = readdirSync(folder).map(name => readFileSync(join(folder, name), 'latin1'))
  expect(files.join('')).not.toContain('msg_private')
})
