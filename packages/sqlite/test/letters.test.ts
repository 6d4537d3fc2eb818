import { join } from 'node:path'
import type { DeadLetter, Inbox } from '@ackhook/core'
import { sqliteInbox } from '@ackhook/sqlite'
import { expect, it } from 'vitest'
import { until } from '../../../test/support/until.ts'
import { newDelivery, startInbox, withFolder } from './start-inbox.ts'

const PAGE_BYTES = 4 * 1024 * 1024

/** Runs `body` on an inbox with a dead letter of each size, the oldest first. */
function withLetters(sizes: readonly number[], body: (inbox: Inbox) => Promise<void>): Promise<void> {
  return withFolder(async folder => {
    const inbox = sqliteInbox({ path: join(folder, 'inbox.db'), poll: '20ms' })
    let died = 0
    await startInbox(inbox, { concurrency: 1, clock: () => ++died }, async ({ type }) =>
      type === 'dies' ? { outcome: 'dead', error: 'no', notified: true } : { outcome: 'completed' },
    )
    for (const [index, size] of sizes.entries()) {
      const letter = newDelivery({ id: `letter_${index}`, type: 'dies', body: new Uint8Array(size) })
      await until('it is accepted', async () => (await inbox.accept(letter)).outcome !== 'unavailable')
    }
    await until('all are dead', async () => (await inbox.stats()).dead === sizes.length, 60_000)
    await body(inbox)
    await inbox.close(1000)
  })
}

async function pagesOf(inbox: Inbox, order: 'newest' | 'oldest', limit: number): Promise<DeadLetter[][]> {
  const pages: DeadLetter[][] = []
  for (let after: string | undefined; ; after = pages.at(-1)?.at(-1)?.cursor) {
    const page = await inbox.deadLetters.list({ limit, order, after })
    if (page.length === 0) return pages
    pages.push([...page])
  }
}

const idsOf = (pages: readonly (readonly { readonly id: string }[])[]): string[] =>
  pages.flat().map(({ id }) => id)

it('ends a page of dead letters before their bodies exceed 4 MiB, and skips none', () =>
  withLetters([900_000, 900_000, 5_000_000, 10, 2_000_000, 2_000_000, 2_000_000, 0, 900_000], async inbox => {
    const ids = Array.from({ length: 9 }, (_, index) => `letter_${index}`)
    for (const order of ['oldest', 'newest'] as const) {
      const pages = await pagesOf(inbox, order, 100)
      expect(idsOf(pages)).toEqual(order === 'oldest' ? ids : ids.toReversed())
      for (const page of pages) {
        const bytes = page.reduce((sum, { body }) => sum + body.length, 0)
        expect(page.length === 1 || bytes <= PAGE_BYTES).toBe(true)
      }
      expect(pages.length).toBeLessThan(7)
      expect(idsOf(await pagesOf(inbox, order, 2))).toEqual(idsOf(pages))
    }
  }))

it('lists more letters than it reads in one piece, with bodies and without', () =>
  withLetters(Array<number>(620).fill(3), async inbox => {
    const listed = await inbox.deadLetters.list({ limit: 619 })
    const browsed = (await inbox.browse?.({ state: 'dead', limit: 619 })) ?? []
    expect(listed.map(({ id }) => id)).toEqual(browsed.map(({ id }) => id))
    expect(new Set(idsOf([listed])).size).toBe(619)
    expect(browsed.every(one => one.body === undefined)).toBe(true)
  }))

it('accepts deliveries while large dead letters are listed, discarded and redriven', () =>
  withLetters(Array<number>(60).fill(900_000), async inbox => {
    const letters = (await inbox.browse?.({ state: 'dead', limit: 100 })) ?? []
    const keys = letters.map(({ key }) => key)
    const work: readonly (() => Promise<unknown>)[] = [
      () => Promise.all(Array.from({ length: 12 }, async () => inbox.deadLetters.list({ limit: 60 }))),
      () => Promise.all(keys.slice(0, 30).map(async key => inbox.deadLetters.discard(key))),
      () => Promise.all(keys.slice(30).map(async key => inbox.deadLetters.redrive(key))),
    ]
    for (const one of work) {
      let isOver = false
      const end = one().finally(() => {
        isOver = true
      })
      let accepted = 0
      while (!isOver) {
        expect(await inbox.accept(newDelivery())).toEqual({ outcome: 'accepted' })
        accepted++
      }
      await end
      expect(accepted).toBeGreaterThan(5)
    }
  }))
