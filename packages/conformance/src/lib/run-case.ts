import { clearTimeout, setTimeout } from 'node:timers'
import type { SuiteCase } from './suite-case.ts'

/** Runs a case and returns the reason if it fails. A case that has not ended after `limitMs` fails. */
export async function runCase(
  { run, timeLimitMs }: Pick<SuiteCase, 'run' | 'timeLimitMs'>,
  limitMs: number = timeLimitMs,
): Promise<Error | undefined> {
  let timer: NodeJS.Timeout | undefined
  const hangs = new Promise<Error>(resolve => {
    timer = setTimeout(() => resolve(new Error(`did not end within ${limitMs} ms`)), limitMs)
  })
  try {
    return await Promise.race([run().then(() => undefined, toError), hangs])
  } finally {
    clearTimeout(timer)
  }
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(`${String(thrown)} was thrown, which is not an Error`)
}
