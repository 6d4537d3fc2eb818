import { setTimeout } from 'node:timers'
import type { MaybePromise } from '@ackhook/core'

const WAIT_MS = 20_000

/** Polls until `read` returns something other than `undefined` or `false`. Rejects after 20 seconds. */
export async function until<T>(read: () => MaybePromise<T | undefined | false>, what: string): Promise<T> {
  const deadline = performance.now() + WAIT_MS
  for (;;) {
    const value = await read()
    if (value !== undefined && value !== false) return value
    if (performance.now() > deadline) throw new Error(`timed out after ${WAIT_MS} ms waiting until ${what}`)
    await new Promise(resolve => setTimeout(resolve, 5))
  }
}
