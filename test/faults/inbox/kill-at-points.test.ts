import { describe, expect, it } from 'vitest'
import { inFull } from '../../support/in-full.ts'
import { until } from '../../support/until.ts'
import { createPlatform } from './platform.ts'
import { type Mode, startReceiver } from './receiver-process.ts'
import { createWorkspace, scaled } from './workspace.ts'

interface Outcome {
  /** True if the platform received 2xx before the crash. Otherwise it retries. */
  readonly acked: boolean
  /** Number of times the handler ran to its end, including the platform's retry and the restart. */
  readonly done: number
}

const TABLE: readonly (readonly [point: string, outcomes: Readonly<Record<Mode, Outcome>>])[] = [
  ['after-verify', { memory: ok(false, 1), after: ok(false, 1), sqlite: ok(false, 1) }],
  ['after-accept', { memory: ok(false, 1), after: ok(false, 2), sqlite: ok(false, 1) }],
  ['before-reply', { memory: ok(false, 1), after: ok(false, 2), sqlite: ok(false, 1) }],
  ['after-reply', { memory: ok(true, 0), after: ok(true, 1), sqlite: ok(true, 1) }],
  ['mid-handler', { memory: ok(true, 0), after: ok(false, 1), sqlite: ok(true, 1) }],
  ['before-complete', { memory: ok(true, 1), after: ok(false, 2), sqlite: ok(true, 2) }],
  ['after-complete', { memory: ok(true, 1), after: ok(true, 1), sqlite: ok(true, 1) }],
]

function ok(acked: boolean, done: number): Outcome {
  return { acked, done }
}

/** Sends an event, crashes at `killAt`, restarts, and retries the event if it was not acknowledged. */
async function crashAt(killAt: string, mode: Mode): Promise<Outcome & { redelivery: number | undefined }> {
  const space = createWorkspace()
  const platform = createPlatform()
  const id = `evt_${mode}_${killAt}`
  // The handler takes longer than the reply.
  const settings = { mode, ...space, workMs: 150 }
  const first = await startReceiver({ ...settings, killAt })
  await platform.once(first.url, id)
  await first.exited
  const acked = platform.acked.has(id)
  const next = await startReceiver(settings)
  await platform.deliver(() => next.url, id)
  await until(`${id} is settled`, async () => {
    const { pending, active } = await next.ask<{ pending: number; active: number }>('stats')
    return pending + active === 0
  })
  const done = space.read().done.get(id) ?? 0
  const redelivery = await platform.once(next.url, id)
  next.signal('SIGTERM')
  await next.exited
  platform.stop()
  space.remove()
  return { acked, done, redelivery }
}

/** Returns the disk mode by default, and all modes at the point at which their outcomes differ most. */
function modesAt(point: string): readonly Mode[] {
  return inFull<boolean>(true, point === 'after-reply') ? ['memory', 'after', 'sqlite'] : ['sqlite']
}

describe('kill -9 at a named point', { timeout: 900_000, concurrent: true }, () => {
  for (const [point, outcomes] of TABLE) {
    for (const mode of modesAt(point)) {
      const { acked, done } = outcomes[mode]
      it(`${point}, ${mode}: ${acked ? 'acknowledged' : 'retried by the platform'}, handled ${done} times`, async () => {
        for (let round = 0; round < scaled(5, 1); round++) {
          const seen = await crashAt(point, mode)
          expect({ acked: seen.acked, done: seen.done }).toEqual({ acked, done })
          if (mode === 'sqlite') expect(seen.redelivery).toBe(200)
        }
      })
    }
  }
})
