import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { inFull } from '../support/in-full.ts'
import { eventBody, SECRET, sign } from '../support/receiving.ts'
import { AppProcess, type AppSettings } from './app-process.ts'
import { Balancer } from './balancer.ts'

/** Events per second. */
const RATE = inFull(200, 50)
/** Number of times that each process is replaced. */
const ROUNDS = inFull(5, 1)

it('a rolling deployment under load fails no first attempt and loses no event', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-rolling-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const settings: AppSettings = {
    framework: 'express',
    inbox: join(folder, 'webhooks.db'),
    shutdown: { grace: '2s', timeout: '40s' },
  }
  const balancer = await Balancer.start()
  const all = [await AppProcess.start(settings), await AppProcess.start(settings)]
  for (const { port } of all) await balancer.add(port)
  const running = [...all]

  const load = sendThrough(balancer)
  for (let round = 0; round < ROUNDS; round++) {
    for (const _ of [1, 2]) {
      const next = await AppProcess.start(settings)
      all.push(next)
      running.push(next)
      await balancer.add(next.port)
      const oldest = running.shift()!
      oldest.signal('SIGTERM')
      expect(await oldest.ended).toBe(0)
      balancer.remove(oldest.port)
    }
  }
  const { sent, failed } = await load.stop()
  for (const app of running) app.signal('SIGTERM')
  for (const app of running) expect(await app.ended).toBe(0)

  expect(failed).toEqual([])
  const handled = all.flatMap(({ lines }) => lines.flatMap(line => line.handled ?? []))
  expect(handled.toSorted()).toEqual(sent.toSorted())
})

/** Sends events at a steady rate, each once. */
function sendThrough({ port }: Balancer): {
  stop(): Promise<{ sent: readonly string[]; failed: readonly string[] }>
} {
  const sent: string[] = []
  const failed: string[] = []
  const underWay = new Set<Promise<void>>()
  const timer = setInterval(() => {
    const id = `evt_${sent.length}`
    sent.push(id)
    const one = send(id).finally(() => underWay.delete(one))
    underWay.add(one)
  }, 1000 / RATE)
  async function send(id: string): Promise<void> {
    const body = eventBody({ id })
    const headers = { 'x-service-signature': sign(body, { secret: SECRET }) }
    const reply = await fetch(`http://127.0.0.1:${port}/webhooks`, { method: 'POST', headers, body })
    if (reply.status !== 202) failed.push(`${id}: ${reply.status} ${await reply.text()}`)
    else await reply.arrayBuffer()
  }
  return {
    async stop() {
      clearInterval(timer)
      await Promise.all(underWay)
      return { sent, failed }
    },
  }
}
