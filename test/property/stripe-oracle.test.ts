import { expect, it } from 'vitest'
import { compareWithStripe } from '../runtimes/oracle.mjs'
import { inFull } from '../support/in-full.ts'
import { SEED } from '../support/random.ts'

// `npm run test:runtimes` runs the same on Bun, Deno and Workers.
it('verifyRequest and Stripe’s library agree about mutated requests', async () => {
  const count = inFull(1_000_000, 4000)
  const { accepted, wrong } = await compareWithStripe({ seed: SEED, count })
  expect(wrong).toEqual([])
  // Both sides of the decision are tried.
  expect(accepted).toBeGreaterThan(count / 10)
  expect(accepted).toBeLessThan(count / 2)
}, 3_600_000)
