import { statfsSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Delivery } from '@ackhook/core'
import { sqliteInbox } from '@ackhook/sqlite'
import { describe, expect, it, type TestContext } from 'vitest'
import { mountSmallDisk, NEEDED, type SmallDisk } from '../../../test/support/small-disk.ts'
import { until } from '../../../test/support/until.ts'
import { newDelivery, startInbox, withFolder } from './start-inbox.ts'

const MEBIBYTE = 1_048_576

/** Runs `body` on a small disk, or skips the test if this user may not mount one. */
async function withSmallDisk(
  { skip }: TestContext,
  body: (folder: string, disk: SmallDisk) => Promise<void>,
): Promise<void> {
  await withFolder(async folder => {
    const disk = mountSmallDisk(folder)
    if (disk === undefined) {
      process.stderr.write(`Skipped: ${NEEDED}\n`)
      return skip(NEEDED)
    }
    try {
      await body(folder, disk)
    } finally {
      disk.unmount()
    }
  })
}

function large(): Delivery {
  return newDelivery({ body: new Uint8Array(20_000).fill(120) })
}

function isFull(answer: object): boolean {
  return 'cause' in answer && /disk is full/.test(String(answer.cause))
}

describe('sqliteInbox', () => {
  it('does not acknowledge on a full disk, and needs no restart once there is room', context =>
    withSmallDisk(context, async folder => {
      const inbox = sqliteInbox({ path: join(folder, 'inbox.db'), poll: '20ms' })
      let working = false
      const { ran } = await startInbox(inbox, { concurrency: 4 }, async () =>
        working ? { outcome: 'completed' } : { outcome: 'retry', delayMs: 100, error: new Error('later') },
      )
      // Another file occupies half of the disk, and is deleted later.
      writeFileSync(join(folder, 'other'), new Uint8Array(MEBIBYTE))
      const acknowledged: Delivery[] = []
      let answer = await inbox.accept(large())
      // On a busy machine, some may be refused because they take too long.
      for (let index = 0; index < 200 && !isFull(answer); index++) {
        const delivery = large()
        answer = await inbox.accept(delivery)
        if (answer.outcome === 'accepted') acknowledged.push(delivery)
      }
      expect(answer).toMatchObject({ outcome: 'unavailable', code: 'inbox_unavailable' })
      expect(isFull(answer)).toBe(true)
      expect(statfsSync(folder).bfree * statfsSync(folder).bsize).toBeLessThan(300_000)

      unlinkSync(join(folder, 'other'))
      const after = large()
      await until('it accepts again', async () => (await inbox.accept(after)).outcome !== 'unavailable')
      working = true
      await until('all acknowledged events are handled', async () => {
        const { pending, active } = await inbox.stats()
        return pending + active === 0
      })
      const keys = new Set(ran.map(({ key }) => key))
      expect([...acknowledged, after].filter(({ key }) => !keys.has(key))).toEqual([])
      await inbox.close(2000)
    }))

  it('fails to start on a read-only disk, and needs no restart once it is writable', context =>
    withSmallDisk(context, async (folder, disk) => {
      const inbox = sqliteInbox({ path: join(folder, 'inbox.db'), poll: '20ms' })
      await startInbox(inbox)
      expect(await inbox.accept(newDelivery())).toEqual({ outcome: 'accepted' })
      await until('it is idle', async () => (await inbox.stats()).active === 0)
      await inbox.close(1000)
      disk.remount('ro')
      const next = sqliteInbox({ path: join(folder, 'inbox.db'), poll: '20ms' })
      await expect(startInbox(next)).rejects.toThrow(/inbox\.db/)
      expect(await next.accept(newDelivery())).toMatchObject({ outcome: 'unavailable' })
      disk.remount('rw')
      const { ran } = await startInbox(next)
      const delivery = newDelivery()
      expect(await next.accept(delivery)).toEqual({ outcome: 'accepted' })
      await until('it runs', () => ran.some(({ key }) => key === delivery.key))
      await next.close(1000)
    }))
})
