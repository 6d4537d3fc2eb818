import { seededRandom } from '@ackhook/testing'

/** Seed of this run, the same in all files. */
export const SEED = Number(process.env['TEST_SEED'] ?? Date.now())

const next = seededRandom(SEED)
console.log(`Seed ${SEED}. Repeat this run with --sequence.seed=${SEED}.`)

/** Like `Math.random`, from the seed of this run. */
export function random(): number {
  return next()
}
