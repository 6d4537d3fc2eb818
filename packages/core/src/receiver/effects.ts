import { AckhookError } from '../errors/errors.ts'
import type { DeadLetterStore, Inbox } from '../inbox/inbox.ts'
import type { MaybePromise } from '../lib/maybe-promise.ts'
import type { RoundsBoard } from '../lib/rounds.ts'
import type { Logger } from '../observe/logger.ts'

/** What handlers' effects need to know of the receiver. */
export interface EffectsHost {
  /** Events whose handlers run at a time. `0`: this process only receives. */
  readonly concurrency: number
  readonly logger: Logger
  /** Events whose handlers may run again at any time: their marks must stay. Absent if only the engine's tools can read them. */
  readonly deadLetters: Pick<DeadLetterStore, 'list'> | undefined
  /** Board of recurring work, for `Rounds` of `@ackhook/core/spi`. */
  readonly rounds?: RoundsBoard | undefined
}

/**
 * Effects of handlers, with marks that are kept outside of the inbox, such as `sqlEffects(db)` of `@ackhook/sql`: a marked
 * handler has taken effect, and does nothing when its event runs again.
 */
export interface Effects {
  /**
   * Called at start, before the inbox is started, and again if that failed. Rejects if no handler could take effect.
   * Resolves to a function that ends what the call has begun, for the end of the drain.
   */
  start(host: EffectsHost): MaybePromise<() => void>
  /** Deletes the marks of an event, so that its handlers run again. Resolves to whether it had any. */
  forget(id: string, where: { readonly namespace: string }): MaybePromise<boolean>
}

interface Effectful {
  readonly inbox: Inbox
  readonly effects: Effects | undefined
}

/** Returns what starts a receiver's effects, if it has any. */
export function startOf(
  { effects, inbox, concurrency, logger }: Omit<EffectsHost, 'deadLetters' | 'rounds'> & Effectful,
  rounds: RoundsBoard,
): (() => MaybePromise<() => void>) | undefined {
  if (effects === undefined) return undefined
  const deadLetters = inbox.deadLetters.unreadable === true ? undefined : inbox.deadLetters
  return () => effects.start({ concurrency, logger, deadLetters, rounds })
}

/**
 * Forgets a handled event's id, and then its marks. An event that waits, runs or is a dead letter keeps them: its next
 * attempt runs only the handlers that have failed.
 */
export async function forgetHandled(
  { inbox, effects }: Effectful,
  key: string,
  { id, namespace }: { readonly id: string; readonly namespace: string },
): Promise<boolean> {
  if (!(await inbox.forget(key))) return false
  try {
    await effects?.forget(id, { namespace })
    return true
  } catch (cause) {
    const message = `The id '${id}' is forgotten, and the marks of its handlers are not: call forget of the receiver's effects before the event is sent again.`
    throw new AckhookError('store_unavailable', message, { cause })
  }
}
