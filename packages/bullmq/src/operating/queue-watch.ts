import type { StoreNotice } from '@ackhook/core/spi'
import type { Engine } from '../engine/engine.ts'

/** Waiting events that are looked up again in the next round. */
const SAMPLE = 20
/** Ids of handled events must be remembered for longer than a round, or they would seem to be removed. */
const MIN_RETENTION_MS = 600_000

/** Adds what people do to a queue by hand, as in a queue dashboard, to an engine's notices. */
export class QueueWatch {
  readonly #engine: Pick<Engine, 'notices' | 'name' | 'paused' | 'newestWaiting' | 'lookUp'>
  readonly #mayLookUp: boolean
  /** Jobs that waited in the last round. */
  #waited: readonly string[] = []

  constructor(
    engine: Pick<Engine, 'notices' | 'name' | 'paused' | 'newestWaiting' | 'lookUp'>,
    { retentionMs }: { readonly retentionMs: number },
  ) {
    this.#engine = engine
    this.#mayLookUp = retentionMs >= MIN_RETENTION_MS
  }

  async notices(): Promise<readonly StoreNotice[]> {
    const [settings, paused, removed] = await Promise.all([
      this.#engine.notices().catch(() => []),
      this.#isPausedElsewhere().catch(() => false),
      this.#areRemoved().catch(() => false),
    ])
    const { name } = this.#engine
    return [...settings, ...(paused ? [queuePaused(name)] : []), ...(removed ? [eventsRemoved(name)] : [])]
  }

  async #isPausedElsewhere(): Promise<boolean> {
    const pause = await this.#engine.paused()
    // The log has told a pause by our own port.
    return pause !== undefined && !pause.isOwn
  }

  /**
   * Looks for the events that waited in the last round. Whatever has become of them, their ids are known, unless somebody
   * has removed them: a drained or obliterated queue forgets its events.
   */
  async #areRemoved(): Promise<boolean> {
    if (!this.#mayLookUp) return false
    const before = this.#waited
    const known = before.length === 0 ? undefined : await this.#engine.lookUp(before)
    this.#waited = await this.#engine.newestWaiting(SAMPLE)
    // A single event may have become a dead letter that was discarded.
    return before.filter(id => !known!.has(id)).length * 2 > before.length
  }
}

function queuePaused(queue: string): StoreNotice {
  return {
    code: 'queue_paused',
    message: `The queue '${queue}' is paused: events are accepted, and none is handled. Somebody paused it in a queue dashboard or with BullMQ's queue.pause(). Resume it there, or with queue.resume().`,
  }
}

function eventsRemoved(queue: string): StoreNotice {
  return {
    code: 'events_removed',
    message: `Events that waited in the queue '${queue}' are gone without having been handled: somebody has drained or obliterated it, or removed its jobs, in a queue dashboard or with BullMQ. Redeliver the events of that time from the sender.`,
  }
}
