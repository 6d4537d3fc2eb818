import { setTimeout } from 'node:timers'
import type { DedupeStore } from '@ackhook/core'
import type { Claim, ClaimOptions, CompleteOptions } from '@ackhook/core/spi'
import { expectThat } from '../lib/expect.ts'

/** Lease too long for a test to wait for, but short enough to reveal a wrong unit. */
export const LEASE_MS = 30_000
/** Claim and completion of an event whose body stays the same. */
export const lease: ClaimOptions = { leaseMs: LEASE_MS, fingerprint: 42 }
export const done: CompleteOptions = { retentionMs: 60_000, fingerprint: 42 }

export async function expectOutcome(
  claim: Claim | Promise<Claim>,
  outcome: Claim['outcome'],
  when: string,
): Promise<Claim> {
  const answer = await claim
  expectThat(answer.outcome === outcome, `${when}: expected '${outcome}', got ${JSON.stringify(answer)}`)
  return answer
}

export async function expectAnswer(
  answer: boolean | Promise<boolean>,
  expected: boolean,
  when: string,
): Promise<void> {
  const got = await answer
  expectThat(got === expected, `${when}: expected ${expected}, got ${got}`)
}

/**
 * Claims until the key is free. Rejects if it stays taken for 10 seconds.
 * Resolves to the last time, by `performance.now()`, at which the key was certainly taken: when the last refused claim
 * was sent. However long the process then stands still, that time does not move.
 */
export async function claimWhenFree(
  store: DedupeStore,
  key: string,
  token: string,
  leaseMs: number = LEASE_MS,
): Promise<number> {
  const begun = performance.now()
  let takenAt = begun
  for (;;) {
    const sentAt = performance.now()
    if ((await store.claim(key, token, { ...lease, leaseMs })).outcome === 'claimed') return takenAt
    takenAt = sentAt
    expectThat(takenAt - begun < 10_000, `'${key}' is still taken after 10 seconds`)
    await new Promise(resolve => setTimeout(resolve, 5))
  }
}

/** Lets a lease on `key` expire by the store's own clock, and watches only another key of the same age. */
export async function letLeaseExpire(
  store: DedupeStore,
  key: string,
  token: string,
  afterwards: 'keep' | 'release' = 'keep',
): Promise<void> {
  const leaseMs = 40
  const later = `${key}-later`
  await expectOutcome(store.claim(key, token, { ...lease, leaseMs }), 'claimed', 'a free id')
  await expectOutcome(
    store.claim(later, token, { ...lease, leaseMs: leaseMs + 5 }),
    'claimed',
    'the id that expires later',
  )
  await claimWhenFree(store, later, 'watcher')
  if (afterwards === 'release') await store.release(later, 'watcher')
}
