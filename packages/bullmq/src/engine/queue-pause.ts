import type { EventQueue } from './event-job.ts'

/** A pause of a queue. BullMQ stores it as a flag, which dashboards set and show too. */
export interface QueuePause {
  /** Time of the pause in milliseconds since the epoch. For one that was made elsewhere, when it was first noticed. */
  readonly since: number
  /** `true` if it was made with `handling.pause()`. */
  readonly isOwn: boolean
}

/** Stores, beside BullMQ's flag, what BullMQ does not: when the queue was paused, and how. */
export interface PauseRecord {
  /** Returns BullMQ's flag and the record, each if there is one. */
  read(): Promise<readonly [flag: unknown, record: unknown]>
  /**
   * Sets BullMQ's flag and the record of an own pause in one step, unless there is one: a process that dies between the
   * two would leave a pause that nobody is told of. Resolves to whether the flag is new.
   */
  pause(now: number): Promise<boolean>
  /** Writes a record unless there is one. */
  add(record: string): Promise<unknown>
  forget(): Promise<unknown>
}

/** Field of BullMQ's `meta` of the queue. */
export const PAUSE_FIELD = 'ackhook-paused'

const RECORD = /^(own|seen) (\d+)$/

/** Reads BullMQ's flag and the record. The record of a pause that has ended elsewhere counts as none, and is dropped. */
export function readPause(
  flag: unknown,
  record: unknown,
  now: number = Date.now(),
): { readonly pause: QueuePause | undefined; readonly isStale: boolean } {
  const [, how, since] = RECORD.exec(String(record)) ?? []
  if (flag === null || flag === undefined) return { pause: undefined, isStale: how !== undefined }
  return { pause: { since: Number(since ?? now), isOwn: how === 'own' }, isStale: false }
}

/** Pauses one queue by BullMQ's own means, and knows since when it is paused. */
export class PauseSwitch {
  readonly #queue: Pick<EventQueue, 'resume' | 'isPaused'>
  readonly #record: PauseRecord

  constructor(queue: Pick<EventQueue, 'resume' | 'isPaused'>, record: PauseRecord) {
    this.#queue = queue
    this.#record = record
  }

  pause(): Promise<boolean> {
    return this.#record.pause(Date.now())
  }

  async resume(): Promise<boolean> {
    if (!(await this.#queue.isPaused())) return false
    // The flag first: a record without it counts as none.
    await this.#queue.resume()
    await this.#record.forget()
    return true
  }

  async paused(): Promise<QueuePause | undefined> {
    const [flag, record] = await this.#record.read()
    const { pause } = readPause(flag, record)
    if (pause === undefined || record !== null) return pause
    // Not in the place of a record that was written meanwhile. A tool may have read-only access.
    await this.#record.add(`seen ${pause.since}`).catch(() => {})
    const [flagNow, recordNow] = await this.#record.read()
    return recordNow === null ? pause : readPause(flagNow, recordNow).pause
  }
}
