import type { InboxStats } from '@ackhook/core'
import type { InboxProcess } from '@ackhook/core/spi'
import { expect } from 'vitest'
import { itInFull } from '../../support/in-full.ts'
import { until } from '../../support/until.ts'
import { nothingIsLeft } from './nothing-is-left.ts'
import { createPlatform } from './platform.ts'
import { type ChildSettings, type ReceiverProcess, startReceiver } from './receiver-process.ts'
import { createWorkspace, scaled, type Workspace } from './workspace.ts'

const KNOWN = 'conversation.resolved'
const NEW = 'message.delivered'
const CONCURRENCY = 8
const SENDERS = 8

/** Declares the overflow test. `settingsOf` returns the inbox that the test's processes share. */
export function testOverflow(
  settingsOf: (space: Workspace) => Pick<ChildSettings, 'mode' | 'engine' | 'queue'>,
): void {
  // By default core's own tests check the rule: this one waits until a killed process counts as gone.
  itInFull(
    'keeps a tenth of its capacity for events that wait for a vanished process, and completes none of the others',
    async () => {
      const events = scaled(2000, 150)
      const capacity = events
      const space = createWorkspace()
      const platform = createPlatform()
      const up: ReceiverProcess[] = []
      const start = async (patterns: readonly string[]): Promise<ReceiverProcess> => {
        const options = { concurrency: CONCURRENCY, capacity }
        const receiver = await startReceiver({ ...settingsOf(space), ...space, patterns, options })
        up.push(receiver)
        return receiver
      }
      try {
        const old = await start([KNOWN, '*'])
        const capable = await start([KNOWN, NEW, '*'])
        capable.signal('SIGKILL')
        await capable.exited
        const hasGone = ({ patterns, seenMs }: InboxProcess): boolean =>
          patterns.includes(NEW) && seenMs > 32_000
        await until(
          'the killed process counts as gone',
          async () => (await old.ask<readonly InboxProcess[]>('processes')).some(hasGone),
          60_000,
        )
        let sent = 0
        const sender = async (): Promise<void> => {
          while (sent < events) {
            const index = sent++
            await platform.deliver(() => old.url, `evt_new_${index}`, {}, NEW)
            await platform.deliver(() => old.url, `evt_known_${index}`, {}, KNOWN)
          }
        }
        await Promise.all(Array.from({ length: SENDERS }, sender))
        const isDone = (id: string) => space.read().done.has(id)
        await until('events with a handler are handled', () => {
          return [...platform.acked].filter(id => id.startsWith('evt_known')).every(isDone)
        })
        const stats = (): Promise<InboxStats> => old.ask('stats')
        let waiting = 0
        await until('the others wait or are dead', async () => {
          const { pending, active, dead } = await stats()
          waiting = pending + active
          return waiting + dead === events
        })
        // Events in progress while the count is read come on top.
        expect(waiting).toBeGreaterThan(0)
        expect(waiting).toBeLessThanOrEqual(capacity / 10 + CONCURRENCY)
        await nothingIsLeft(await start([KNOWN, NEW, '*']), 60_000)
        const { dead } = await stats()
        expect(dead).toBe(events - waiting)
        const { ranBy } = space.read()
        const ofNew = [...ranBy].filter(([id]) => id.startsWith('evt_new'))
        expect(ofNew.length).toBe(waiting)
        for (const [, patterns] of ofNew) expect(patterns).toContain(NEW)
      } finally {
        platform.stop()
        for (const receiver of up) {
          receiver.signal('SIGKILL')
          await receiver.exited
        }
        space.remove()
      }
    },
    900_000,
  )
}
