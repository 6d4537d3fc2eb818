/**
 * Creates a generator of tokens, unique for every delivery of every process. Seeded by the first call: Workers forbid
 * that while a module loads.
 */
export function createTokens(): () => string {
  let seed: string | undefined
  let count = 0
  return () => {
    seed ??= crypto.randomUUID()
    return `${seed}:${(count++).toString(36)}`
  }
}
