import { settlesWithin } from '../../lib/deadline.ts'
import { ABORT } from '../attempt.ts'
import type { DrainReport } from '../inbox.ts'
import { withdraw } from './settling.ts'
import type { State } from './state.ts'

/** Runs what waits, for as long as there is time, then gives back or dead-letters what is left. */
export async function drain(state: State, timeoutMs: number): Promise<DrainReport> {
  const { policy, entries, scheduler, leases } = state
  state.isDraining = true
  // With 'after-processing' a failed event goes back to its sender, which retries.
  if (policy.acknowledge === 'immediately') state.limit.lastStartAt = performance.now() + timeoutMs
  for (const entry of entries.list()) if (entry.retryTimer !== undefined) scheduler.enqueue(entry)
  await idleWithin(state, timeoutMs)
  leases?.stop()
  // An event that is only being recorded as handled is neither lost nor given back.
  const left = entries.list().filter(entry => entry.phase !== 'completing')
  state.lost += left.filter(entry => entry.acknowledged).length
  await Promise.all(left.map(entry => withdraw(state, entry, ABORT.drained())))
  return { lost: state.lost }
}

async function idleWithin(state: State, timeoutMs: number): Promise<void> {
  if (state.entries.size === 0) return
  const idle = new Promise<void>(resolve => (state.onIdle = resolve))
  await settlesWithin(idle, timeoutMs)
}
